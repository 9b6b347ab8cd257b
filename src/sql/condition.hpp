// Parses conditions of SQL text: what follows WHERE.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sql/cursor.hpp"
#include "sql/sql.hpp"

namespace quadmill::detail::sql {

// Returns the query's name for a column as written, and adds it to the end of the list of columns. Throws if there is
// no such column.
using ResolveColumn = std::function<std::string(const SqlReference&)>;

// Also records in the list of columns what each is compared with. Throws SqlError.
[[nodiscard]] Predicate parse_condition(SqlCursor& at, const ResolveColumn& resolve, std::vector<SqlColumn>& columns);

}  // namespace quadmill::detail::sql
