#include "query/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "quadmill/error.hpp"
#include "query/plan/bind.hpp"
#include "query/plan/describe.hpp"
#include "query/plan/expression.hpp"
#include "query/table/order.hpp"

namespace quadmill {

namespace detail::query {

std::string line(const std::vector<PlanNode>& nodes, std::size_t node) {
    std::string inputs;
    for (const auto input : nodes.at(node).inputs) inputs += (inputs.empty() ? " of " : ", ") + std::to_string(input);
    return std::to_string(node) + ": " + describe(nodes[node]) + inputs;
}

namespace {

constexpr const char* plan_name = "QueryPlan";

[[noreturn]] void fail(const std::string& why) {
    throw InvalidArgument(std::string(plan_name) + ": " + why);
}

bool is_junction(const Expression& e) {
    return e.kind == Expression::Kind::And || e.kind == Expression::Kind::Or;
}

bool is_number(ColumnType type) {
    return type != ColumnType::Text;
}

// One factor of a condition that is a conjunction.
struct Term {
    Predicate predicate;
    bool negate = false;
    [[nodiscard]] Predicate whole() const { return negate ? !predicate : predicate; }
};

// Appends the factors of a term.
void split(const Term& term, std::vector<Term>& terms) {
    const auto& e = detail::Access::of(term.predicate);
    const bool is_and = is_junction(e) && (e.kind == Expression::Kind::And) != term.negate;
    if (e.kind != Expression::Kind::Not && !is_and) {
        terms.push_back(term);
        return;
    }
    const bool negate = term.negate != (e.kind == Expression::Kind::Not);
    for (const auto& operand : e.operands) split({detail::Access::make<Predicate>(operand), negate}, terms);
}

// The nodes of a plan, checked as they are added.
class PlanBuilder {
  public:
    explicit PlanBuilder(Schema schema) : schema_(std::move(schema)) {}

    std::unique_ptr<QueryPlan::State> operator()(const Query& query) && {
        auto source = query.join ? pairs(query) : rows(query.where.value_or(Predicate::always(true)), 0);
        if (!query.group_by.empty()) source = group(source, query.group_by);
        PlanNode result{.kind = NodeKind::Result, .limit = query.limit};
        bool any_column = false, any_aggregate = false;
        for (const auto& output : query.outputs) {
            const auto* const name = std::get_if<std::string>(&output.what);
            (name ? any_column : any_aggregate) = true;
            result.inputs.push_back(name ? column(source, *name)
                                         : aggregate(source, std::get<QueryAggregate>(output.what)));
            const auto& node = nodes_[result.inputs.back()];
            result.names.push_back(!output.name.empty() ? output.name : name ? *name : describe(node));
        }
        if (query.outputs.empty()) fail("there must be at least one output");
        if (any_column && any_aggregate && query.group_by.empty())
            fail("a column next to an aggregate must be in group_by");
        nodes_.push_back(std::move(result));
        return std::make_unique<QueryPlan::State>(QueryPlan::State{std::move(schema_), std::move(nodes_)});
    }

  private:
    // Conditions on one table alone are applied before the join.
    std::size_t pairs(const Query& query) {
        std::vector<Term> terms;
        if (query.where) split({*query.where, false}, terms);
        std::array<std::vector<Predicate>, 2> of_table;
        std::vector<Predicate> of_pairs;
        for (const auto& term : terms) {
            std::array<bool, 2> named{};
            for (const auto& name : columns_of(detail::Access::of(term.predicate)))
                named.at(schema_.find(plan_name, name).table) = true;
            (named[0] && named[1] ? of_pairs : of_table.at(named[1] ? 1 : 0)).push_back(term.whole());
        }
        const auto selected = [&](std::size_t table) {
            const auto& parts = of_table.at(table);
            if (parts.empty()) return rows(Predicate::always(true), table);
            const auto own_name = [&](const std::string& name) { return schema_[schema_.find(plan_name, name)].name; };
            return rows(renamed(query::junction(ExpressionKind::And, parts), own_name), table);
        };
        const auto left = selected(0), right = selected(1);
        const auto joined = join(left, right, *query.join);
        return of_pairs.empty() ? joined : filter(joined, query::junction(ExpressionKind::And, of_pairs));
    }

    std::size_t rows(const Predicate& predicate, std::size_t table) {
        const auto bare = renamed(
            predicate, [&](const std::string& name) { return schema_[schema_.find_in(table, plan_name, name)].name; });
        check(plan_name, detail::Access::of(bare), schema_.columns(table));
        return bare_rows(bare, false, table);
    }

    // Pre: all names exist.
    std::size_t bare_rows(const Predicate& predicate, bool negate, std::size_t table) {
        const auto& e = detail::Access::of(predicate);
        if (e.kind == Expression::Kind::Not)
            return bare_rows(detail::Access::make<Predicate>(e.operands.at(0)), !negate, table);
        if (e.kind == Expression::Kind::Always && negate) return bare_rows(Predicate::always(!e.always), false, table);
        if (!is_junction(e) || e.operands.empty())
            return share({.kind = NodeKind::Rows, .predicate = Term{predicate, negate}.whole(), .table = table});
        std::vector<std::size_t> inputs;
        for (const auto& operand : e.operands)
            inputs.push_back(bare_rows(detail::Access::make<Predicate>(operand), negate, table));
        sort_unique(inputs);
        if (inputs.size() == 1) return inputs.front();
        const auto kind = (e.kind == Expression::Kind::And) != negate ? NodeKind::And : NodeKind::Or;
        return share({.kind = kind, .inputs = std::move(inputs)});
    }

    std::size_t join(std::size_t left, std::size_t right, Join join) {
        const auto& a = schema_[schema_.find_in(0, plan_name, join.left)];
        const auto& b = schema_[schema_.find_in(1, plan_name, join.right)];
        join.left = a.name;
        join.right = b.name;
        if (join.left_name == join.right_name)
            fail("the tables of a join must have two names, not both '" + join.left_name + "'");
        if (is_number(a.type) != is_number(b.type))
            fail("columns '" + a.name + "' and '" + b.name + "' cannot be joined: one has text, the other numbers");
        if (!(join.band >= 0)) fail("a join's band must be at least 0, not " + query::describe(Value(join.band)));
        if (join.band > 0 && !is_number(a.type))
            fail("a join of text must have band 0, not " + query::describe(Value(join.band)));
        return share({.kind = NodeKind::Join, .inputs = {left, right}, .join = std::move(join)});
    }

    std::size_t filter(std::size_t pairs, const Predicate& predicate) {
        auto named = renamed(predicate, [&](const std::string& name) { return canonical(name); });
        check(plan_name, detail::Access::of(named), schema_.pair_columns());
        return share({.kind = NodeKind::Filter, .inputs = {pairs}, .predicate = std::move(named)});
    }

    std::size_t group(std::size_t input, const std::vector<std::string>& by) {
        for (const auto& name : by) {
            auto known = canonical(name);
            if (std::ranges::find(grouped_, known) == grouped_.end()) grouped_.push_back(std::move(known));
        }
        return share({.kind = NodeKind::Group, .inputs = {input}, .columns = grouped_});
    }

    std::size_t column(std::size_t input, const std::string& name) {
        auto known = canonical(name);
        if (!grouped_.empty() && std::ranges::find(grouped_, known) == grouped_.end())
            fail("column '" + name + "' is not in group_by, so a group does not have a single value of it");
        return share({.kind = NodeKind::Column, .inputs = {input}, .columns = {std::move(known)}});
    }

    std::size_t aggregate(std::size_t input, QueryAggregate what) {
        using Which = QueryAggregate::Kind;
        if (what.kind == Which::CountRows) {
            what.column.clear();
            return share({.kind = NodeKind::Aggregate, .inputs = {input}, .aggregate = std::move(what)});
        }
        const auto place = schema_.find(plan_name, what.column);
        if (!is_number(schema_[place].type) && (what.kind == Which::Sum || what.kind == Which::Average))
            fail("column '" + what.column + "' has text, which cannot be summed");
        if (what.kind == Which::Quantile && !(what.phi >= 0 && what.phi <= 1))
            fail("phi must be from 0 to 1, not " + query::describe(Value(what.phi)));
        if ((what.kind == Which::KthLargest || what.kind == Which::KthSmallest) && what.k == 0)
            fail("k must be at least 1, not 0");
        what.column = schema_.name(place);
        return share({.kind = NodeKind::Aggregate, .inputs = {input}, .aggregate = std::move(what)});
    }

    [[nodiscard]] std::string canonical(const std::string& name) const {
        return schema_.name(schema_.find(plan_name, name));
    }

    // Equal nodes, and only equal ones, have the same text.
    std::size_t share(PlanNode node) {
        auto words = describe(node);
        for (const auto input : node.inputs) words.append(1, ' ').append(std::to_string(input));
        const auto [at, fresh] = known_.emplace(std::move(words), nodes_.size());
        if (fresh) nodes_.push_back(std::move(node));
        return at->second;
    }

    Schema schema_;
    std::vector<PlanNode> nodes_;
    std::unordered_map<std::string, std::size_t> known_;
    std::vector<std::string> grouped_;
};

}  // namespace

}  // namespace detail::query

using namespace detail::query;  // NOLINT(google-build-using-namespace): this file is the front door of the room

QueryPlan::QueryPlan(const Query& query, const std::vector<ColumnInfo>& columns) {
    if (query.join) throw InvalidArgument("QueryPlan: a query with a join needs the columns of both tables");
    state_ = PlanBuilder(Schema(columns))(query);
}

QueryPlan::QueryPlan(const Query& query, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right) {
    if (!query.join) throw InvalidArgument("QueryPlan: columns of two tables, but the query has no join");
    state_ = PlanBuilder(Schema(left, right, *query.join))(query);
}

QueryPlan::QueryPlan(QueryPlan&&) noexcept = default;
QueryPlan& QueryPlan::operator=(QueryPlan&&) noexcept = default;
QueryPlan::~QueryPlan() = default;

std::string QueryPlan::text() const {
    std::string out;
    for (std::size_t i = 0; i < state_->nodes.size(); ++i) out += line(state_->nodes, i) + "\n";
    return out;
}

}  // namespace quadmill
