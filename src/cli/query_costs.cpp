#include "cli/query_costs.hpp"

#include <algorithm>

#include "quadmill/query.hpp"
#include "query/plan/expression.hpp"

namespace quadmill::detail::cli {

// Only the first statement is bound. A column without a table may be of the larger one.
const std::string& StatementWork::table_of(const sql::SqlQuery& query, const sql::SqlColumn& column) const {
    if (column.source) return query.sources[*column.source].path;
    const auto* found = &query.sources[0].path;
    for (const auto& [path, name] : query.sources) {
        if (column.written.qualifier == name) return path;
        if (size(path) > size(*found)) found = &path;
    }
    return *found;
}

// Columns are loaded for conditions, aggregates and groups, not to be printed.
void StatementWork::add(const sql::SqlQuery& query) {
    if (query.sources.empty()) return;  // its answer is there already
    double rows = 0;
    for (const auto& source : query.sources) rows = std::max(rows, size(source.path));
    if (query.join) joins_.emplace_back(size(query.sources[0].path), size(query.sources[1].path));
    std::set<std::string> used;
    if (query.where) {
        predicates_ += rows;
        for (auto& leaf : query::columns_of(detail::Access::of(*query.where))) used.insert(std::move(leaf));
    }
    const auto use = [&](const sql::SqlSteps& steps) {
        for (const auto& step : steps) used.insert(step.leaf);
    };
    for (const auto& one : query.aggregates) {
        using enum QueryAggregate::Kind;
        const auto kind = one.what.kind;
        const bool is_rank = kind == Quantile || kind == KthLargest || kind == KthSmallest;
        if (is_rank && query.group_by.empty()) ranks_ += rows;
        use(one.argument);
    }
    if (!query.group_by.empty()) groups_ += rows;
    for (const auto& one : query.group_by) use(one.steps);
    for (const auto& column : query.columns) {
        const auto& table = table_of(query, column);
        if (used.contains(column.leaf) && loaded_.emplace(table, column.written.name).second) loads_ += size(table);
    }
}

double StatementWork::rows() const {
    double rows = predicates_ + ranks_ + groups_;
    for (const auto& [left, right] : joins_) rows += left + right;
    return rows;
}

bool StatementWork::is_known(const bench::StatementCosts& costs) const {
    return costs.cpu_ns > 0 && (groups_ == 0 || costs.cpu_group_ns > 0) && (joins_.empty() || costs.cpu_join_ns > 0);
}

double StatementWork::ms_on_cpu(const bench::StatementCosts& costs) const {
    double ns = predicates_ * costs.cpu_ns + ranks_ * costs.cpu_rank_ns + groups_ * costs.cpu_group_ns;
    for (const auto& [left, right] : joins_) ns += (left + right) * costs.cpu_join_ns;
    return ns / 1e6;
}

double StatementWork::ms_on_gpu(const bench::StatementCosts& costs) const {
    double ns = predicates_ * costs.gpu_ns + ranks_ * costs.gpu_rank_ns + groups_ * costs.gpu_group_ns;
    // The GPU compares each pair of rows, or leaves a join to the CPU.
    for (const auto& [left, right] : joins_)
        ns += std::min((left + right) * costs.cpu_join_ns, left * right * costs.gpu_join_ns);
    return (ns + loads_ * costs.load_ns) / 1e6 + costs.start_ms;
}

}  // namespace quadmill::detail::cli
