// QueryEngine::Bitmap; bitmap_columns.hpp explains it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "query/gpu/gpu_tables.hpp"

namespace quadmill::detail::query {

class BitmapEngine final : public Engine {
  public:
    // Tables with more rows than `max_rows`, or than textures hold, are processed in parts.
    BitmapEngine(gl::Device& device, unsigned threads, std::size_t max_rows = ~std::size_t{0})
        : BitmapEngine(std::make_shared<GpuTables>(device, threads), max_rows) {}
    // Shares columns with another engine.
    explicit BitmapEngine(std::shared_ptr<GpuTables> tables, std::size_t max_rows = ~std::size_t{0});
    [[nodiscard]] std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                std::span<const std::size_t> columns) override;
    [[nodiscard]] std::size_t bytes(const std::vector<TableColumns>& tables) const override {
        return tables_.bytes(tables, max_rows_);
    }
    [[nodiscard]] bool make_space(const std::vector<TableColumns>& tables, std::size_t limit) override {
        return tables_.make_space(tables, max_rows_, limit);
    }
    [[nodiscard]] std::size_t held() const override { return tables_.held(); }

  private:
    std::shared_ptr<GpuTables> shared_;
    GpuTables& tables_;
    std::size_t max_rows_;
};

}  // namespace quadmill::detail::query
