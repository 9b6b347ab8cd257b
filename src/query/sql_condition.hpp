// Conditions of SQL text: what stands after WHERE.
#pragma once

#include <functional>
#include <string>

#include "query/sql_cursor.hpp"

namespace quadmill::detail::query {

// The name of a column in the query, for one that is written; throws when it cannot be.
using ResolveColumn = std::function<std::string(const SqlReference&)>;

// Throws SqlError.
[[nodiscard]] Predicate parse_condition(SqlCursor& at, const ResolveColumn& resolve);

}  // namespace quadmill::detail::query
