#include "query/plan/plan.hpp"

#include <array>
#include <optional>
#include <utility>

#include "quadmill/error.hpp"
#include "query/plan/builder.hpp"
#include "query/plan/describe.hpp"
#include "query/plan/graph.hpp"

namespace quadmill {

namespace detail::query {

std::size_t source_of(const std::vector<PlanNode>& nodes, std::size_t output) {
    const auto input = nodes.at(output).inputs.at(0);
    return nodes[input].kind == NodeKind::Group ? nodes[input].inputs.at(0) : input;
}

std::string line(const std::vector<PlanNode>& nodes, std::size_t node) {
    std::string inputs;
    for (const auto input : nodes.at(node).inputs) inputs += (inputs.empty() ? " of " : ", ") + std::to_string(input);
    return std::to_string(node) + ": " + describe(nodes[node]) + inputs;
}

namespace {

// The node of a join's pairs. Conditions on one table alone are applied before the join.
std::size_t joined_source(PlanBuilder& builder, const Query& query) {
    std::vector<Term> terms;
    if (query.where) split({*query.where, false}, terms);
    const auto& schema = builder.schema();
    std::array<std::vector<Predicate>, 2> of_table;
    std::vector<Predicate> of_pairs;
    for (const auto& term : terms) {
        std::array<bool, 2> named{};
        for (const auto& name : columns_of(detail::Access::of(term.predicate)))
            named.at(schema.find("QueryPlan", name).table) = true;
        (named[0] && named[1] ? of_pairs : of_table.at(named[1] ? 1 : 0)).push_back(term.whole());
    }
    const auto rows = [&](std::size_t table) {
        const auto& parts = of_table.at(table);
        if (parts.empty()) return builder.rows(Predicate::always(true), false, table);
        const auto own_name = [&](const std::string& name) { return schema[schema.find("QueryPlan", name)].name; };
        return builder.rows(renamed(junction(ExpressionKind::And, parts), own_name), false, table);
    };
    const auto left = rows(0), right = rows(1);
    const auto pairs = builder.join(left, right, *query.join);
    return of_pairs.empty() ? pairs : builder.filter(pairs, junction(ExpressionKind::And, of_pairs));
}

std::unique_ptr<QueryPlan::State> planned(const Query& query, Schema schema) {
    PlanBuilder builder(std::move(schema), "QueryPlan");
    auto source = query.join ? joined_source(builder, query)
                             : builder.rows(query.where.value_or(Predicate::always(true)), false, 0);
    if (!query.group_by.empty()) source = builder.group(source, query.group_by);
    std::vector<std::size_t> outputs;
    std::vector<std::string> names;
    for (const auto& output : query.outputs) {
        const auto* column = std::get_if<std::string>(&output.what);
        outputs.push_back(column ? builder.column(source, *column)
                                 : builder.aggregate(source, std::get<QueryAggregate>(output.what)));
        names.push_back(output.name.empty() && column ? *column : output.name);
    }
    builder.result(outputs, std::move(names), query.limit);
    return std::move(builder).state();
}

std::string quoted_label(const std::string& text) {
    std::string out(1, '"');
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    out += '"';
    return out;
}

}  // namespace

}  // namespace detail::query

using namespace detail::query;  // NOLINT(google-build-using-namespace): this file is the front door of the room

QueryPlan::QueryPlan(const Query& query, const std::vector<ColumnInfo>& columns) {
    if (query.join) throw InvalidArgument("QueryPlan: a query with a join needs the columns of both tables");
    state_ = planned(query, Schema(columns));
}

QueryPlan::QueryPlan(const Query& query, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right) {
    if (!query.join) throw InvalidArgument("QueryPlan: columns of two tables, but the query has no join");
    state_ = planned(query, Schema(left, right, *query.join));
}

QueryPlan::QueryPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
QueryPlan::QueryPlan(QueryPlan&&) noexcept = default;
QueryPlan& QueryPlan::operator=(QueryPlan&&) noexcept = default;
QueryPlan::~QueryPlan() = default;

QueryPlan QueryPlan::from_nodes(const std::vector<PlanNode>& nodes, const std::vector<ColumnInfo>& left,
                                const std::vector<ColumnInfo>& right) {
    return QueryPlan(plan_of(nodes, left, right));
}

std::string QueryPlan::text() const {
    std::string out;
    for (std::size_t i = 0; i < state_->nodes.size(); ++i) out += line(state_->nodes, i) + "\n";
    return out;
}

std::string QueryPlan::graphviz() const {
    std::string out = "digraph plan {\n    rankdir = BT;\n    node [shape = box];\n";
    for (std::size_t i = 0; i < state_->nodes.size(); ++i) {
        const auto& node = state_->nodes[i];
        const auto number = std::to_string(i);
        out += "    n" + number + " [label = " + quoted_label(describe(node)) + "];\n";
        for (const auto input : node.inputs) out += "    n" + std::to_string(input) + " -> n" + number + ";\n";
    }
    return out + "}\n";
}

}  // namespace quadmill
