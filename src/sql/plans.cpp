#include "sql/plans.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "query/plan/describe.hpp"
#include "query/plan/expression.hpp"
#include "query/table/cells.hpp"
#include "sql/binder.hpp"
#include "sql/table_maker.hpp"

namespace quadmill::detail::sql {

using Op = query::Arithmetic;
using Form = SqlAggregate::Form;
using AggregateKind = QueryAggregate::Kind;

namespace {

ColumnType type_in(const Table& table, const std::string& name) {
    return data_of(table).infos[data_of(table).places.at(name)].type;
}

}  // namespace

bool all_leaves(const std::vector<SqlOutput>& outputs) {
    return std::ranges::all_of(outputs, [](const SqlOutput& output) { return is_leaf(output.steps); });
}

bool joins_in_plan(const SqlQuery& query) {
    const auto of_rows = [](const SqlComputed& one) { return !one.of_groups; };
    if (query.join->outer || std::ranges::any_of(query.computed, of_rows)) return false;
    if (!query.groups()) return query.order_by.empty() && all_leaves(query.outputs);
    return std::ranges::all_of(query.aggregates, [](const SqlAggregate& one) { return one.form == Form::Plain; });
}

std::optional<Join> join_of(const SqlQuery& query, const RunOptions& options) {
    if (!query.join) return {};
    const auto& join = *query.join;
    return Join{.left = query.columns[join.left].name,
                .right = query.columns[join.right].name,
                .band = join.band,
                .left_name = query.sources[0].name,
                .right_name = query.sources[1].name,
                .method = options.join,
                .block_rows = options.join_block};
}

Query grouping(const SqlQuery& query) {
    Query plan{.outputs = {}, .where = query.where};
    for (const auto& key : query.group_by) {
        const auto& name = leaf_of(key.steps);
        if (std::ranges::find(plan.group_by, name) != plan.group_by.end()) continue;
        plan.group_by.push_back(name);
        plan.outputs.push_back({name, name});
    }
    for (const auto& one : query.aggregates) {
        if (one.form != Form::Plain) continue;
        auto what = one.what;
        if (!one.argument.empty()) what.column = leaf_of(one.argument);
        plan.outputs.push_back({what, one.leaf});
    }
    if (plan.outputs.empty()) plan.outputs.push_back({QueryAggregate{}, rows_of_all});
    return plan;
}

Query plain_rows(const SqlQuery& query) {
    Query plan{.outputs = {}, .where = query.where};
    for (const auto& output : query.outputs) {
        for (const auto& step : output.steps) {
            if (step.op == Op::Leaf)
                plan.outputs.push_back({step.leaf, is_leaf(output.steps) ? output.name : step.leaf});
        }
    }
    return plan;
}

std::uint64_t rows_wanted(const SqlQuery& query) {
    const auto limit = query.limit.value_or(std::numeric_limits<std::uint64_t>::max());
    return limit > std::numeric_limits<std::uint64_t>::max() - query.offset ? limit : limit + query.offset;
}

QueryPlan plan_of(Query plan, const SqlQuery& query, const std::vector<Table>& tables, const RunOptions& options) {
    if (tables.size() == 1) return {plan, tables[0].columns()};
    plan.join = join_of(query, options);
    return {plan, tables[0].columns(), tables[1].columns()};
}

ColumnType type_of(const SqlQuery& query, const std::vector<Table>& tables, const std::string& leaf) {
    if (const auto one = std::ranges::find(query.aggregates, leaf, &SqlAggregate::leaf);
        one != query.aggregates.end()) {
        const auto kind = one->what.kind;
        if (one->form == Form::Variance || kind == AggregateKind::Average) return ColumnType::F64;
        if (kind == AggregateKind::CountRows || kind == AggregateKind::Count) return ColumnType::I64;
        return type_of(query, tables, one->argument);
    }
    if (const auto one = std::ranges::find(query.computed, leaf, &SqlComputed::leaf); one != query.computed.end())
        return one->pattern ? ColumnType::I64 : type_of(query, tables, one->steps);
    const auto& column = *std::ranges::find(query.columns, leaf, &SqlColumn::leaf);
    if (column.printed) return ColumnType::Text;
    return wide(type_in(tables[*column.source], column.name));
}

ColumnType type_of(const SqlQuery& query, const std::vector<Table>& tables, const SqlSteps& steps) {
    if (is_leaf(steps)) return type_of(query, tables, leaf_of(steps));
    const bool any_double = std::ranges::any_of(steps, [&](const SqlStep& step) {
        if (step.op == Op::Leaf) return type_of(query, tables, step.leaf) == ColumnType::F64;
        const auto value =
            step.op == Op::Constant ? query::value_of(step.constant) : std::optional<Value>(std::int64_t{0});
        return step.op == Op::Divide || !value || !std::holds_alternative<std::int64_t>(*value);
    });
    return any_double ? ColumnType::F64 : ColumnType::I64;
}

std::vector<ColumnInfo> columns_out(const SqlQuery& query, const std::vector<Table>& tables) {
    std::vector<ColumnInfo> infos;
    for (const auto& output : query.outputs) infos.push_back({output.name, type_of(query, tables, output.steps)});
    return infos;
}

SqlPlan plan(const SqlQuery& query, const std::vector<Table>& tables, const RunOptions& options) {
    SqlPlan found;
    auto columns = tables[0].columns();
    auto wanted = query.groups() ? grouping(query) : plain_rows(query);
    if (query.order_by.empty() && !query.groups() && query.limit) wanted.limit = rows_wanted(query);
    const bool in_plan = !query.join || joins_in_plan(query);
    if (!in_plan) {
        columns.clear();
        for (const auto& one : query.columns) {
            if (one.source && std::ranges::find(columns, one.leaf, &ColumnInfo::name) == columns.end())
                columns.push_back({one.leaf, type_of(query, tables, one.leaf)});
        }
        found.before += std::string(query.join->outer ? "left " : "") + "join " + query.sources[0].name + " and " +
                        query.sources[1].name + "\n";
    }
    for (const auto& one : query.computed) {
        if (one.of_groups) continue;
        columns.push_back({one.leaf, type_of(query, tables, one.leaf)});
        found.before += "compute " + one.leaf + "\n";
    }
    if (in_plan && query.join) {
        wanted.join = join_of(query, options);
        found.plan.emplace(wanted, tables[0].columns(), tables[1].columns());
    } else {
        found.plan.emplace(wanted, columns);
    }
    for (const auto& one : query.aggregates) {
        if (one.form != Form::Plain) found.after += one.leaf + "\n";
    }
    if (query.having) found.after += "having " + query::describe(detail::Access::of(*query.having)) + "\n";
    if (query.distinct) found.after += "distinct\n";
    for (const auto& one : query.order_by)
        found.after += "order by " + text_of(one.steps) + (one.descending ? " desc\n" : "\n");
    if (query.limit) found.after += "limit " + std::to_string(*query.limit) + "\n";
    if (query.offset > 0) found.after += "offset " + std::to_string(query.offset) + "\n";
    return found;
}

}  // namespace quadmill::detail::sql
