// SQLite as a rival: the table in memory, statements prepared.
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
// Whether the command was built with SQLite and its library is here.
[[nodiscard]] bool has_sqlite();
// Loads the table. Null without SQLite.
[[nodiscard]] std::unique_ptr<SqliteTable> open_sqlite(const std::shared_ptr<const query::TableData>& table);
// The statement; values are question marks.
[[nodiscard]] std::string sql_of(const query::TableData& table, const QueryCase& which);

}  // namespace quadmill::detail::bench
