// Runs statements on tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "quadmill/query.hpp"
#include "sql/statement.hpp"

namespace quadmill::detail::sql {

using SqlCell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

// The names and types of an answer's columns, of I64, F64 and Text.
[[nodiscard]] std::vector<ColumnInfo> columns_out(const SqlQuery& query, const std::vector<Table>& tables);

struct RunOptions {
    JoinMethod join = JoinMethod::Auto;
    std::size_t join_block = 0;
    unsigned threads = 0;
    // Called while the pairs of a join are kept, with the bytes that are needed next. May throw.
    std::function<void(std::uint64_t bytes)> before_bytes{};
};

struct SqlAnswer {
    std::uint64_t matched = 0;  // rows or pairs that satisfied WHERE
    std::vector<NodeStats> nodes{};
};

// Receives a row of the answer, which is valid during the call.
using TakeRow = std::function<void(std::span<const SqlCell> row)>;

// Pre: the statement is bound, and has the types of its tables.
SqlAnswer run(const SqlQuery& query, const std::vector<Table>& tables, QueryProcessor& processor,
              const RunOptions& options, const TakeRow& take);

// The library's plan, and what is done before and after it, one line each.
struct SqlPlan {
    std::string before{}, after{};
    std::optional<QueryPlan> plan{};
};
[[nodiscard]] SqlPlan plan(const SqlQuery& query, const std::vector<Table>& tables, const RunOptions& options);

}  // namespace quadmill::detail::sql
