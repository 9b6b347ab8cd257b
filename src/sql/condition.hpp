// Conditions of SQL text: what stands after WHERE.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sql/cursor.hpp"
#include "sql/sql.hpp"

namespace quadmill::detail::sql {

// The name of a column in the query, for one that is written, which goes to the end of the list of columns; throws when
// it cannot be.
using ResolveColumn = std::function<std::string(const SqlReference&)>;

// Says in the list of columns what each is compared with. Throws SqlError.
[[nodiscard]] Predicate parse_condition(SqlCursor& at, const ResolveColumn& resolve, std::vector<SqlColumn>& columns);

}  // namespace quadmill::detail::sql
