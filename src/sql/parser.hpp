// Parses SQL text.
#pragma once

#include <string_view>
#include <vector>

#include "sql/statement.hpp"

namespace quadmill::detail::sql {

// The statements of a text, which `;` separates. The names in them are not looked up yet: see bind(). Throws SqlError.
[[nodiscard]] std::vector<SqlQuery> parse_statements(std::string_view text);
// Throws SqlError also if there are several.
[[nodiscard]] SqlQuery parse_sql(std::string_view text);

}  // namespace quadmill::detail::sql
