// Parses conditions and expressions of SQL text.
#pragma once

#include "sql/cursor.hpp"
#include "sql/statement.hpp"

namespace quadmill::detail::sql {

// The clause that an expression stands in. Only some have aggregates and may use names of outputs.
enum class SqlClause { Select, Where, GroupBy, Having, OrderBy };

// Both add to the query the columns, aggregates and computed columns that they name, and how they are used. They throw
// SqlError.
[[nodiscard]] Predicate parse_condition(SqlCursor& at, SqlQuery& query, SqlClause clause);
// A column, an aggregate, or arithmetic of them.
[[nodiscard]] SqlSteps parse_expression(SqlCursor& at, SqlQuery& query, SqlClause clause);

}  // namespace quadmill::detail::sql
