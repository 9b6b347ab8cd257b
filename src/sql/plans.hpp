// What the library's queries answer of a statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/query.hpp"
#include "sql/run.hpp"
#include "sql/statement.hpp"

namespace quadmill::detail::sql {

inline constexpr const char* rows_of_all =
    "COUNT of all";  // if only aggregates that the library does not have are wanted

// Pre: the steps are a column.
[[nodiscard]] inline const std::string& leaf_of(const SqlSteps& steps) {
    return steps[0].leaf;
}
[[nodiscard]] bool all_leaves(const std::vector<SqlOutput>& outputs);

// Whether the library's plan answers the joined rows, so that pairs need not be kept.
[[nodiscard]] bool joins_in_plan(const SqlQuery& query);
[[nodiscard]] std::optional<Join> join_of(const SqlQuery& query, const RunOptions& options);
// The outputs of the library's query that groups rows: the keys, then the plain aggregates.
[[nodiscard]] Query grouping(const SqlQuery& query);
[[nodiscard]] Query plain_rows(const SqlQuery& query);
// LIMIT and OFFSET together.
[[nodiscard]] std::uint64_t rows_wanted(const SqlQuery& query);
[[nodiscard]] QueryPlan plan_of(Query plan, const SqlQuery& query, const std::vector<Table>& tables,
                                const RunOptions& options);

// The type of a column of the rows or groups, or of an expression.
[[nodiscard]] ColumnType type_of(const SqlQuery& query, const std::vector<Table>& tables, const std::string& leaf);
[[nodiscard]] ColumnType type_of(const SqlQuery& query, const std::vector<Table>& tables, const SqlSteps& steps);

}  // namespace quadmill::detail::sql
