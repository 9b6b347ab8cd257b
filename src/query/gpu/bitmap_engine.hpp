// QueryEngine::Bitmap; bitmap_columns.hpp explains it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "query/gpu/gpu_tables.hpp"

namespace quadmill::detail::query {

class BitmapEngine final : public GpuEngine {
  public:
    BitmapEngine(gl::Device& device, unsigned threads, std::size_t max_rows = ~std::size_t{0})
        : GpuEngine(device, threads, max_rows, texels_a_word(ColumnType::F64)) {}
    [[nodiscard]] std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                std::span<const std::size_t> columns) override;
};

}  // namespace quadmill::detail::query
