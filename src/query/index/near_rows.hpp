// Rows that an index finds, as a small table of the bitmap engine.
#pragma once

#include <memory>
#include <span>

#include "query/index/cell_index.hpp"

namespace quadmill::detail::query {

// Copies the columns' rows in all cells that the ranges touch. Conditions are then evaluated as on the table itself:
// indexed columns are NULL in the small table's unused rows, so a condition must have a range of one of them. Row
// numbers are those of the table. Pre: `on` are the index's columns.
[[nodiscard]] std::shared_ptr<BitmapColumns> near_rows(BitmapColumns& columns, const CellIndex& index,
                                                       std::span<const std::size_t> on,
                                                       std::span<const KeyRange> ranges);

}  // namespace quadmill::detail::query
