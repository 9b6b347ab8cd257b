// An index of one or two columns of a table: a grid of cells that have about the same number of rows, the row numbers
// in the order of their cells, and the numbers of rows in the rectangles of cells that begin at the grid's corner. To
// count the rows in a rectangle of keys, the CPU adds four of these numbers for the cells inside. A pass tests the rows
// of the cells on the edge, one fragment per row, and an occlusion query counts them. For everything else, a pass lists
// the rows of all cells that the rectangle touches, whose number the CPU knows.
// Source: an index that is drawn, Doraiswamy, Haritsa, 'Raster is faster', CIDR 2026, which uses atomic operations on
// buffers; prefix sums as in Ho, Agrawal, Megiddo, Srikant, Range Queries in OLAP Data Cubes, SIGMOD 1997.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "query/gpu/bitmap_columns.hpp"
#include "query/index/cuts.hpp"

namespace quadmill::detail::query {

class CellIndex {
  public:
    // Builds the index; waits for the GPU. Rows with NULL in a column are in no rectangle. Pre: one or two columns,
    // which are not objects of the application; the engine's tables outlive this object.
    CellIndex(BitmapColumns& columns, std::span<const std::size_t> on);

    // The number of rows whose keys are in these ranges, one for each column. Pre: no bound is the key of -0.
    [[nodiscard]] Counting count_later(std::span<const KeyRange> ranges);
    [[nodiscard]] std::uint64_t count(std::span<const KeyRange> ranges) { return count_later(ranges).result(); }

    // The number of rows that count() tests: those of the cells on the edge.
    [[nodiscard]] std::uint32_t rows_on_edge(std::span<const KeyRange> ranges) const;
    // The number of rows in all cells that the ranges touch.
    [[nodiscard]] std::uint32_t rows_near(std::span<const KeyRange> ranges) const;
    // Lists these rows, in any order, followed by zeros. Pre: R32UI, list_width wide, with room for them.
    void list_near(std::span<const KeyRange> ranges, const pass::Target& list) const;

    // Bytes on the GPU, and in the CPU's memory.
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::size_t cpu_bytes() const { return sums_.size() * sizeof(sums_[0]); }

  private:
    static constexpr std::size_t max_spare_queries = 64;
    // Cells [x0, x1) of lines [y0, y1).
    struct Block {
        int x0, y0, x1, y1;
    };
    using Edge = std::array<Block, 4>;
    // Cells inside and on the edge of ranges.
    struct Cells {
        Block outer, inner;
        [[nodiscard]] Edge edge() const;
    };
    [[nodiscard]] bool two() const { return columns_.size() == 2; }
    [[nodiscard]] std::string prelude() const;
    [[nodiscard]] Cuts cuts_of(const GpuColumn& of, std::size_t cells);
    [[nodiscard]] pass::Target cells_of_rows(BitmapColumns& columns);
    void order_rows(pass::Target cells);
    // Nothing if no key is in the ranges.
    [[nodiscard]] std::optional<Cells> cells_of(std::span<const KeyRange> ranges) const;
    [[nodiscard]] std::uint32_t rows_in(const Block& block) const;
    [[nodiscard]] gl::Uniforms uniforms() const;
    [[nodiscard]] gl::Pass edge_pass(const Edge& edge, std::span<const KeyRange> ranges, const glm::uvec4& ends) const;
    [[nodiscard]] Counting count_samples(gl::Pass pass, std::uint64_t inside, std::uint32_t rows);
    [[nodiscard]] Counting count_folded(gl::Pass pass, std::uint64_t inside);

    GpuTables& tables_;
    gl::Device& device_;
    Shape shape_;
    std::vector<std::shared_ptr<GpuColumn>> columns_;
    std::array<Cuts, 2> cuts_;
    pass::Target rows_;  // row numbers in the order of cells
    gl::Texture sums_on_gpu_;
    std::vector<std::uint32_t> sums_;
    int sums_width_ = 0;
    const gl::Program* edge_program_ = nullptr;
    pass::Target counted_;            // the occlusion query counts its pixels
    gl::QuadList lines_;              // of counted_
    std::optional<pass::Fold> fold_;  // without exact occlusion queries
    // Occlusion queries that are not in use. They outlive the index if counts do.
    std::shared_ptr<Spare<gl::Query>> queries_ = std::make_shared<Spare<gl::Query>>(max_spare_queries);
};

// Copies the columns' rows in all cells that the ranges touch. Conditions are then evaluated as on the table itself:
// indexed columns are NULL in the small table's unused rows, so a condition must have a range of one of them. Row
// numbers are those of the table. Pre: `on` are the index's columns.
[[nodiscard]] std::shared_ptr<BitmapColumns> near_rows(BitmapColumns& columns, const CellIndex& index,
                                                       std::span<const std::size_t> on,
                                                       std::span<const KeyRange> ranges);

}  // namespace quadmill::detail::query
