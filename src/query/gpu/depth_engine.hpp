// QueryEngine::Depth: the engine of 'Query Processing on GPUs'. A column is copied to the depth buffer, a comparison
// with a constant is a quad drawn at its depth, a condition in conjunctive normal form counts in the stencil how many of
// its clauses hold, and occlusion queries count rows. All else is the bitmap engine's.
//
// Depths hold the keys exactly: key - least, if that fits into the normal floats up to 1, and else in planes of 29 bits,
// compared one after the other.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "query/gpu/bitmap_engine.hpp"

namespace quadmill::detail::query {

// Codes that a depth can be: normal floats from the smallest to 1.
inline constexpr std::uint32_t depth_codes = 0x3f800000U - 0x00800000U + 1;

// A column's keys as codes of depths: so many planes, the highest bits first, of key - base.
struct DepthPlanes {
    Key base = 0;
    int width = 0;                // bits of the largest key - base
    int planes = 1, bits = 0;     // of each plane
    std::uint32_t null_code = 0;  // greater than all others, in the first plane

    static DepthPlanes of(Key least, Key most);
    [[nodiscard]] int shift(int plane) const { return bits * (planes - 1 - plane); }
    [[nodiscard]] int plane_of_bit(int bit) const { return planes - 1 - (bits > 0 ? bit / bits : 0); }
    [[nodiscard]] std::uint32_t mask() const { return planes == 1 ? ~std::uint32_t{0} : (1U << bits) - 1; }
    [[nodiscard]] std::uint32_t code(Key key, int plane) const {
        return static_cast<std::uint32_t>((key - base) >> shift(plane)) & mask();
    }
};

// Depth and stencil of one table size, and what the depth holds.
struct DepthSurface {
    DepthSurface(gl::Device& device, const Shape& shape);
    gl::Texture texture;
    gl::Framebuffer target;
    gl::QuadList rows;  // the pixels of all rows, and no others
    std::weak_ptr<const GpuColumn> column{};
    Key base = 0;
    int plane = -1;
};

class DepthEngine final : public BitmapEngine {
  public:
    // A pixel a row.
    DepthEngine(gl::Device& device, unsigned threads, std::size_t most_rows = ~std::size_t{0})
        : BitmapEngine(device, threads, most_rows, static_cast<int>(Shape::rows_a_word)) {}

  private:
    friend class DepthColumns;
    [[nodiscard]] std::shared_ptr<Columns> open_part(const TableData& table, const RowPart& part,
                                                     std::span<const std::size_t> columns) override;
    [[nodiscard]] std::size_t pool_bytes(std::size_t rows) const override;
    std::vector<gl::Query> queries_;
    gl::CountList counts_;
};

class DepthColumns final : public BitmapColumns {
  public:
    DepthColumns(DepthEngine& engine, const std::shared_ptr<Pool>& pool)
        : BitmapColumns(engine, pool), depth_(engine), surface_(*pool->surface) {}

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override;
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    // Integers by counting the rows that have each bit.
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] BitsPtr conjunction(const Clauses& clauses) override;
    [[nodiscard]] std::optional<std::uint64_t> count_conjunction(const Clauses& clauses) override;

    // For measurements: all planes of a column, one after the other, as if nothing was there before.
    void copy_to_depth(std::size_t column);
    // The next query copies what it needs.
    void forget_depth() { surface_.column.reset(); }

  private:
    [[nodiscard]] bool has_nulls(std::size_t column) const;
    [[nodiscard]] DepthPlanes planes_of(std::size_t column) const;
    // For which a test of depths says it: what the depths of both columns are then, and the test.
    [[nodiscard]] std::optional<DepthPlanes> planes_of(const Pair& pair) const;
    // What goes before programs with depth.glsl.
    [[nodiscard]] std::string prelude(ColumnType type) const;
    // Leaves the level of the last clause, where all hold, in the stencil; the queries count its rows if asked.
    void run(std::span<const std::vector<Leaf>> clauses, bool count);
    // Sets the stencil of all rows by a first clause of one test of depths, without clearing it; false for others. What
    // is beyond the last row stays as it is, so this is for counting only.
    [[nodiscard]] bool start_with(const std::vector<Leaf>& clause);
    // Rows at `level` of which it holds go to the next; level 0: the stencil is left alone.
    void literal(const Leaf& leaf, int level, bool count);
    void range(const Range& range, int level, bool count);
    void range_in_planes(const Range& range, const DepthPlanes& planes, int level, bool count);
    // Of the rows that are undecided, those that lose, in any plane, are none any more.
    void compare_planes(std::size_t column, const DepthPlanes& planes, Key key, gl::Compare wins, gl::Compare loses,
                        int level);
    void pair(const Pair& pair, const DepthPlanes& planes, int level, bool count);
    void selected(const Bits& bits, int level, bool count);
    [[nodiscard]] bool one_test(std::span<const std::vector<Leaf>> clauses) const;
    [[nodiscard]] bool one_test(const Range& range) const;
    [[nodiscard]] BitsPtr bits_at(int level);

    void load(std::size_t column, const DepthPlanes& planes, int plane);
    // For the search of the k-th smallest of the selected rows, with what is found of it in the planes before.
    void load_found(std::size_t column, const DepthPlanes& planes, int plane, int known, std::uint32_t k,
                    const Bits& rows);
    void start(std::uint8_t level);
    struct Test {
        std::uint32_t code = 0;
        std::optional<gl::Compare> depth{};
        std::optional<gl::StencilTest> stencil{};
        std::optional<std::array<float, 2>> bounds{};
    };
    void test(const char* name, const Test& test, bool count = false);
    void issue(gl::Pass pass, bool count);
    [[nodiscard]] std::uint64_t counted();

    DepthEngine& depth_;
    DepthSurface& surface_;
    std::size_t queries_used_ = 0;
};

}  // namespace quadmill::detail::query
