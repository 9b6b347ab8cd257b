// The nodes of a plan, checked as they are added.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/plan/expression.hpp"
#include "query/plan/plan.hpp"

namespace quadmill::detail::query {

// One factor of a condition that is a conjunction.
struct Term {
    Predicate predicate;
    bool negate = false;
    [[nodiscard]] Predicate whole() const { return negate ? !predicate : predicate; }
};

// Appends the factors of a term.
void split(const Term& term, std::vector<Term>& terms);

class PlanBuilder {
  public:
    PlanBuilder(Schema schema, std::string where) : schema_(std::move(schema)), where_(std::move(where)) {}

    // Sets the text that messages begin with.
    void at(std::string where) { where_ = std::move(where); }

    std::size_t rows(const Predicate& predicate, bool negate, std::size_t table);
    std::size_t junction(PlanNode::Kind kind, std::vector<std::size_t> inputs);
    std::size_t join(std::size_t left, std::size_t right, Join join);
    std::size_t filter(std::size_t pairs, const Predicate& predicate);
    std::size_t group(std::size_t input, const std::vector<std::string>& by);
    std::size_t column(std::size_t input, const std::string& name);
    std::size_t aggregate(std::size_t input, QueryAggregate what);

    // Removes the nodes that the result does not need.
    void result(const std::vector<std::size_t>& outputs, std::vector<std::string> names,
                std::optional<std::uint64_t> limit);

    [[nodiscard]] const Schema& schema() const { return schema_; }
    [[nodiscard]] std::unique_ptr<QueryPlan::State> state() &&;

  private:
    [[noreturn]] void fail(const std::string& why) const;

    [[nodiscard]] std::string canonical(const std::string& name) const;

    // Pre: all names exist.
    std::size_t bare_rows(const Predicate& predicate, bool negate, std::size_t table);

    // Checks that all outputs have the same source, so the same rows, pairs or groups.
    void check_sources(const std::vector<std::size_t>& outputs) const;

    // Equal nodes, and only equal ones, have the same text.
    std::size_t share(PlanNode node);

    Schema schema_;
    std::string where_;
    std::vector<PlanNode> nodes_;
    std::unordered_map<std::string, std::size_t> known_;
};

}  // namespace quadmill::detail::query
