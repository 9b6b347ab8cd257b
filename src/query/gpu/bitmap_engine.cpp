#include "query/gpu/bitmap_engine.hpp"

#include <algorithm>
#include <utility>

#include "query/gpu/bitmap_columns.hpp"

namespace quadmill::detail::query {

BitmapEngine::BitmapEngine(std::shared_ptr<GpuTables> tables, std::size_t max_rows)
    : shared_(std::move(tables)),
      tables_(*shared_),
      max_rows_(std::min(max_rows, tables_.max_rows(texels_a_word(ColumnType::F64)))) {}

std::shared_ptr<Columns> BitmapEngine::open(const std::shared_ptr<const TableData>& table,
                                            std::span<const std::size_t> columns) {
    return tables_.open(*table, max_rows_, [&](const RowPart& part, std::shared_ptr<GpuTables::Pool> pool) {
        auto opened = std::make_shared<BitmapColumns>(tables_, std::move(pool));
        opened->add(*table, part, columns);
        return opened;
    });
}

}  // namespace quadmill::detail::query
