// SQLite as a rival, with the table in memory and prepared statements.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/query_cases.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::bench {

class SqliteTable {
  public:
    virtual ~SqliteTable() = default;
    // Prepares the statement on first use. Throws Error.
    [[nodiscard]] virtual std::uint64_t answer(const QueryCase& which) = 0;
};

inline constexpr const char* sqlite_package = "libsqlite3-dev";
// Whether the command was built with SQLite and its library is installed.
[[nodiscard]] bool has_sqlite();
// Loads the table. Null without SQLite.
[[nodiscard]] std::unique_ptr<SqliteTable> open_sqlite(const std::shared_ptr<const query::TableData>& table);
// The statement, with question marks for values.
[[nodiscard]] std::string sql_of(const query::TableData& table, const QueryCase& which);

}  // namespace quadmill::detail::bench
