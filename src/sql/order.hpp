// Orders and numbers rows of tables by their keys.
#pragma once

#include <cstdint>
#include <vector>

#include "sql/compute.hpp"

namespace quadmill::detail::sql {

// The rows by those keys, from index `offset` on, at most `limit`. Rows with equal keys keep their order.
[[nodiscard]] RowList ordered(const query::TableData& table, const RowList& rows, const std::vector<SqlOrder>& by,
                              std::uint64_t offset, std::uint64_t limit, unsigned threads);

// Numbers of the groups of rows with equal columns, in the order of their values, with NULLs first.
struct GroupNumbers {
    std::vector<std::uint32_t> of_row{};  // empty: all rows are one group
    std::size_t groups = 0;
    [[nodiscard]] std::uint32_t operator[](std::size_t row) const { return of_row.empty() ? 0 : of_row[row]; }
};
[[nodiscard]] GroupNumbers group_numbers(const query::TableData& table, const RowList& rows,
                                         const std::vector<std::size_t>& columns, unsigned threads);

}  // namespace quadmill::detail::sql
