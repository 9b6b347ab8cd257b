// QueryEngine::Depth: the engine of 'Query Processing on GPUs'. A column is copied to the depth buffer, and a
// comparison with a constant is a quad drawn at that depth. For a condition in conjunctive normal form, the stencil
// counts the clauses that hold. Occlusion queries count rows. Everything else uses bits of selections, like the bitmap
// engine.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/query.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/depth_codes.hpp"
#include "query/gpu/notes.hpp"

namespace quadmill::detail::query {

// Depth and stencil for one table size, and a record of what the depth holds.
struct DepthBuffers {
    DepthBuffers(gl::Device& device, const Shape& shape);
    gl::Texture texture;
    gl::Framebuffer target;
    gl::QuadList rows;  // covers exactly the pixels of rows
    std::weak_ptr<const GpuColumn> column{};
    int plane = -1;
};

class DepthEngine final : public GpuEngine {
  public:
    // One pixel per row.
    DepthEngine(gl::Device& device, unsigned threads, std::size_t max_rows = ~std::size_t{0},
                SumPrecision sums = SumPrecision::Exact)
        : GpuEngine(device, threads, max_rows, static_cast<int>(Shape::rows_a_word)), sums_(sums) {}
    [[nodiscard]] std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                std::span<const std::size_t> columns) override;
    [[nodiscard]] std::size_t bytes(const std::vector<TableColumns>& tables) const override;
    [[nodiscard]] bool make_space(const std::vector<TableColumns>& tables, std::size_t limit) override;
    [[nodiscard]] std::size_t held() const override;

  private:
    friend class DepthColumns;
    using Pool = GpuTables::Pool;
    // Freed with the pool of its size.
    struct Kept {
        std::weak_ptr<Pool> pool;
        std::shared_ptr<DepthBuffers> buffers;
    };
    [[nodiscard]] std::shared_ptr<DepthBuffers> buffers(const std::shared_ptr<Pool>& pool);
    [[nodiscard]] static std::size_t buffer_bytes(std::size_t rows);
    // Bytes of buffers that would have to be allocated.
    [[nodiscard]] std::size_t buffer_bytes(const std::set<std::size_t>& sizes) const;

    SumPrecision sums_;
    std::map<std::size_t, Kept> buffers_;  // by number of rows
    std::vector<gl::Query> queries_;
    std::shared_ptr<Spare<gl::Query>> spare_queries_ = std::make_shared<Spare<gl::Query>>(64);
    gl::CountList counts_;
};

class DepthColumns final : public GpuColumns {
  public:
    DepthColumns(DepthEngine& engine, const std::shared_ptr<GpuTables::Pool>& pool,
                 std::shared_ptr<DepthBuffers> buffers);
    void add(const TableData& table, const RowPart& part, std::span<const std::size_t> columns);

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override;
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    // Sums integers by counting the rows that have each bit.
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) override {
        return bitmap_.combine(op, a, b);
    }
    [[nodiscard]] std::uint64_t count(const Bits& rows) override { return bitmap_.count(rows); }
    // MIN and MAX as on the slides: the n-th largest and the largest value.
    [[nodiscard]] std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) override;
    [[nodiscard]] std::vector<std::uint64_t> rows(const Bits& rows) override { return bitmap_.rows(rows); }
    [[nodiscard]] BitsPtr bits_of(std::span<const std::uint32_t> words) override { return bitmap_.bits_of(words); }
    [[nodiscard]] std::vector<std::uint32_t> words(const Bits& rows) override { return bitmap_.words(rows); }
    [[nodiscard]] BitsPtr conjunction(const Clauses& clauses) override;
    // The counts are those of occlusion queries.
    [[nodiscard]] Counting count_later(const Bits& rows) override;
    [[nodiscard]] Counting count_conjunction_later(const Clauses& clauses) override;
    void send_again(std::span<const std::size_t> columns) override;
    [[nodiscard]] BitmapColumns* textures() override { return &bitmap_; }

    // For measurements: copies all planes of a column, one after the other, even if they are in the depth buffer
    // already.
    void copy_to_depth(std::size_t column);
    // Makes the next query copy its column again.
    void forget_depth() { buffers_->column.reset(); }

  private:
    [[nodiscard]] bool has_nulls(std::size_t column) const;
    [[nodiscard]] const GpuColumn::Depths& depths_of(std::size_t column);
    [[nodiscard]] const DepthPlanes& planes_of(std::size_t column) { return depths_of(column).planes; }
    // The GLSL that goes before programs with depth.glsl.
    [[nodiscard]] std::string prelude(ColumnType type, const DepthPlanes& planes) const;
    // In rows for which all clauses hold, the stencil is left at the last clause's level. If requested, queries count
    // these rows.
    void run(std::span<const std::vector<Leaf>> clauses, bool count);
    // Sets the stencil of all rows without a clear, if the first clause is a single depth test; otherwise returns
    // false. Pixels beyond the last row are not changed, so this is for counting only.
    [[nodiscard]] bool start_with(const std::vector<Leaf>& clause);
    // Moves rows at `level` for which the leaf holds to the next level. Level 0 leaves the stencil unchanged.
    void literal(const Leaf& leaf, int level, bool count);
    void range(const Range& range, int level, bool count);
    void range_in_planes(const Range& range, const DepthPlanes& planes, int level, bool count);
    // Compares plane by plane: undecided rows that lose in a plane become decided.
    void compare_planes(std::size_t column, const DepthPlanes& planes, Key key, gl::Compare wins, gl::Compare loses,
                        int level);
    // Evaluates a op b as (a - b) op 0: copies the difference to the depth buffer.
    void pair(const Pair& pair, int level, bool count);
    // A fragment computes the row's sum and is discarded if the condition is false.
    void formula(const Formula& formula, int level, bool count);
    void selected(const Bits& bits, int level, const std::optional<gl::StencilTest>& stencil, bool count);
    [[nodiscard]] bool one_test(std::span<const std::vector<Leaf>> clauses);
    [[nodiscard]] bool one_test(const Range& range);
    [[nodiscard]] BitsPtr bits_at(int level);

    void load(std::size_t column, int plane);
    // A step in the search for the k-th largest of the selected rows; earlier planes have found its higher bits.
    void load_found(std::size_t column, int plane, int known, std::uint32_t k, const Bits& rows);
    [[nodiscard]] Key kth_largest(std::size_t column, std::uint64_t k, const Bits& rows);
    // Adds the runs of a plane in the form that depth.glsl reads.
    static void add_runs(gl::Pass& pass, const GpuColumn::Depths& depths);
    void start(std::uint8_t level);
    struct Test {
        int level = 0;  // level of the clause; 0: between two clauses, or of none
        std::optional<gl::StencilTest> stencil{};
        std::optional<gl::Compare> depth{};
        std::uint32_t code = 0;
        std::optional<std::array<std::uint32_t, 2>> bounds{};  // codes
    };
    void test(const char* name, const Test& test, bool count = false);
    void issue(gl::Pass pass, bool count);
    // Draws the passes that count the rows for which all clauses hold. Pre: at most max_clauses.
    void issue_count(const Clauses& clauses);
    // The queries that count. The caller becomes their owner.
    [[nodiscard]] Counting take_queries();

    [[nodiscard]] const GpuColumn& column(std::size_t i) const { return *bitmap_.column(i); }
    [[nodiscard]] static const gl::Texture& texture(const Bits& bits) { return BitmapColumns::texture(bits); }

    DepthEngine& engine_;
    gl::Device& device_;
    pass::Programs& programs_;
    BitmapColumns bitmap_;  // for everything else
    std::shared_ptr<DepthBuffers> buffers_;
    DepthHolds holds_{};  // content of the depth buffer for the following tests
    std::size_t queries_used_ = 0;
};

// ---- Common parts of stencil and depth tests

inline constexpr int first_level = 1;
// Passes if the stored depth is at least the drawn code.
inline constexpr gl::Compare at_least = gl::Compare::LessOrEqual;

[[nodiscard]] inline gl::StencilTest at_level(int level, gl::StencilOp on_pass = gl::StencilOp::Keep) {
    return {.pass_if = gl::Compare::Equal,
            .reference = static_cast<std::uint8_t>(level),
            .on_pass = on_pass,
            .compared = level_bits,
            .written = level_bits};
}

// GLSL of depth_of(), which encodes as in depth_codes.hpp.
[[nodiscard]] const std::string& depth_code();
// depth_of() followed by at_depth.vert.
[[nodiscard]] const char* at_depth_vertex();

}  // namespace quadmill::detail::query
