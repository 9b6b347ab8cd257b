// A query as a graph of nodes, checked; what the executor runs.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query/plan/expression.hpp"

namespace quadmill::detail::query {

// Where a column is: of which table, in the plan's list of its columns.
struct Place {
    std::size_t table = 0, column = 0;
    bool operator==(const Place&) const = default;
};

// What names in a query mean.
class Schema {
  public:
    explicit Schema(std::vector<ColumnInfo> columns);
    // Of the pairs of a join.
    Schema(std::vector<ColumnInfo> left, std::vector<ColumnInfo> right, const Join& join);

    [[nodiscard]] bool joined() const noexcept { return joined_; }
    [[nodiscard]] const std::vector<ColumnInfo>& columns(std::size_t table) const { return tables_.at(table); }
    [[nodiscard]] const ColumnInfo& operator[](const Place& place) const {
        return tables_.at(place.table).at(place.column);
    }
    // Throws InvalidArgument for a name that no column has, or one of both tables; `where` goes into the message.
    [[nodiscard]] Place find(const std::string& where, const std::string& name) const;
    // The same in one table.
    [[nodiscard]] Place find_in(std::size_t table, const std::string& where, const std::string& name) const;
    // The one name that a plan has for a column: of pairs, with the table's.
    [[nodiscard]] std::string name(const Place& place) const;
    // Those of pairs, by that name.
    [[nodiscard]] std::vector<ColumnInfo> pair_columns() const;

  private:
    [[nodiscard]] std::vector<Place> matches(const std::string& name) const;
    void find_places();

    bool joined_ = false;
    std::array<std::vector<ColumnInfo>, 2> tables_;
    std::array<std::string, 2> names_;
    std::unordered_map<std::string, std::vector<Place>> places_;  // by all names that they have
};

// The same condition with other names of columns.
[[nodiscard]] Predicate renamed(const Predicate& predicate,
                                const std::function<std::string(const std::string& name)>& name);
// Of all columns in it, some perhaps several times.
[[nodiscard]] std::vector<std::string> columns_of(const Expression& expression);

// What rows or pairs an output is made of: the input of its Group, if it has one.
[[nodiscard]] std::size_t source_of(const std::vector<PlanNode>& nodes, std::size_t output);

// A node as QueryPlan::text() has it.
[[nodiscard]] std::string line(const std::vector<PlanNode>& nodes, std::size_t node);

}  // namespace quadmill::detail::query

namespace quadmill {

// The nodes have their inputs before them, the last one is the Result, and each is needed for it; no two are equal.
// There is no Not: it has gone into the predicates. Rows name columns as their table does, Join too, others as
// Schema::name. A Filter's input is the Join. Names, types, shapes are right.
struct QueryPlan::State {
    detail::query::Schema schema;
    std::vector<PlanNode> nodes{};
};

}  // namespace quadmill
