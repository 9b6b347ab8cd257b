// QueryEngine::Depth: the engine of 'Query Processing on GPUs'. A column is copied to the depth buffer, a comparison
// with a constant is a quad drawn at its depth, a condition in conjunctive normal form counts in the stencil how many
// of its clauses hold, and occlusion queries count rows. Everything else uses selections' bits, as the bitmap engine.
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

// Depth and stencil for one table size, and the content of the depth.
struct DepthBuffers {
    DepthBuffers(gl::Device& device, const Shape& shape);
    gl::Texture texture;
    gl::Framebuffer target;
    gl::QuadList rows;  // the pixels of all rows, and no others
    std::weak_ptr<const GpuColumn> column{};
    int plane = -1;
};

class DepthEngine final : public Engine {
  public:
    // A pixel a row. Tables of more rows than `most_rows`, or than textures hold, are worked on in parts.
    DepthEngine(gl::Device& device, unsigned threads, std::size_t most_rows = ~std::size_t{0})
        : DepthEngine(std::make_shared<GpuTables>(device, threads), SumPrecision::Exact, most_rows) {}
    // Shares the columns of another engine.
    DepthEngine(std::shared_ptr<GpuTables> tables, SumPrecision sums, std::size_t most_rows = ~std::size_t{0});
    [[nodiscard]] std::size_t most_rows() const { return most_rows_; }
    // The bytes of buffers; drop_buffers() frees those that are not in use.
    [[nodiscard]] std::size_t buffers_held() const { return held() - tables_.held(); }
    void drop_buffers();
    [[nodiscard]] std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                std::span<const std::size_t> columns) override;
    [[nodiscard]] std::size_t bytes(const std::vector<TableColumns>& tables) const override;
    [[nodiscard]] bool make_space(const std::vector<TableColumns>& tables, std::size_t limit) override;
    [[nodiscard]] std::size_t held() const override;

  private:
    friend class DepthColumns;
    using Pool = GpuTables::Pool;
    // Is freed with the pool of its size.
    struct Kept {
        std::weak_ptr<Pool> pool;
        std::shared_ptr<DepthBuffers> buffers;
    };
    [[nodiscard]] std::shared_ptr<DepthBuffers> buffers(const std::shared_ptr<Pool>& pool);
    [[nodiscard]] static std::size_t buffer_bytes(std::size_t rows);
    // Bytes of buffers that do not exist yet.
    [[nodiscard]] std::size_t buffer_bytes(const std::set<std::size_t>& sizes) const;

    std::shared_ptr<GpuTables> shared_;
    GpuTables& tables_;
    SumPrecision sums_;
    std::size_t most_rows_;
    std::map<std::size_t, Kept> buffers_;  // by rows
    std::vector<gl::Query> queries_;
    gl::CountList counts_;
};

class DepthColumns final : public Columns {
  public:
    DepthColumns(DepthEngine& engine, const std::shared_ptr<GpuTables::Pool>& pool,
                 std::shared_ptr<DepthBuffers> buffers);
    void add(const TableData& table, const RowPart& part, std::span<const std::size_t> columns);

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override;
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    // Integers by counting the rows that have each bit.
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) override {
        return bitmap_.combine(op, a, b);
    }
    [[nodiscard]] std::uint64_t count(const Bits& rows) override { return bitmap_.count(rows); }
    // The slides' MIN and MAX: the n-th and the first largest.
    [[nodiscard]] std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) override;
    [[nodiscard]] std::vector<std::uint64_t> rows(const Bits& rows) override { return bitmap_.rows(rows); }
    [[nodiscard]] BitsPtr bits_of(std::span<const std::uint32_t> words) override { return bitmap_.bits_of(words); }
    [[nodiscard]] std::vector<std::uint32_t> words(const Bits& rows) override { return bitmap_.words(rows); }
    [[nodiscard]] BitsPtr conjunction(const Clauses& clauses) override;
    [[nodiscard]] std::optional<std::uint64_t> count_conjunction(const Clauses& clauses) override;
    // The occlusion queries themselves.
    [[nodiscard]] std::unique_ptr<Counting> count_later(const Bits& rows) override;
    [[nodiscard]] std::unique_ptr<Counting> count_conjunction_later(const Clauses& clauses) override;
    [[nodiscard]] std::unique_ptr<FoundGroups> group(const GroupsWanted& wanted, const Bits& rows) override {
        return bitmap_.group(wanted, rows);
    }
    void send_again(std::span<const std::size_t> columns) override;
    [[nodiscard]] BitmapColumns* textures() override { return &bitmap_; }

    // For measurements: copies all planes of a column, one after the other, without reuse.
    void copy_to_depth(std::size_t column);
    // The next query copies what it needs.
    void forget_depth() { buffers_->column.reset(); }

  private:
    [[nodiscard]] bool has_nulls(std::size_t column) const;
    [[nodiscard]] const GpuColumn::Depths& depths_of(std::size_t column);
    [[nodiscard]] const DepthPlanes& planes_of(std::size_t column) { return depths_of(column).planes; }
    // The text before programs with depth.glsl.
    [[nodiscard]] std::string prelude(ColumnType type, const DepthPlanes& planes) const;
    // Leaves the level of the last clause in the stencil for rows in which all hold; the queries count these rows if
    // requested.
    void run(std::span<const std::vector<Leaf>> clauses, bool count);
    // Sets the stencil of all rows by a first clause of one test of depths, without clearing it; false for others.
    // Pixels beyond the last row are not changed, so this is for counting only.
    [[nodiscard]] bool start_with(const std::vector<Leaf>& clause);
    // Rows at `level` for which it holds go to the next level; level 0: the stencil is not changed.
    void literal(const Leaf& leaf, int level, bool count);
    void range(const Range& range, int level, bool count);
    void range_in_planes(const Range& range, const DepthPlanes& planes, int level, bool count);
    // Undecided rows that lose in any plane are no longer undecided.
    void compare_planes(std::size_t column, const DepthPlanes& planes, Key key, gl::Compare wins, gl::Compare loses,
                        int level);
    // a op b is (a - b) op 0: copies the difference to the depth buffer.
    void pair(const Pair& pair, int level, bool count);
    // Compares the fragment's sum, and discards the fragment if the condition is false.
    void formula(const Formula& formula, int level, bool count);
    void selected(const Bits& bits, int level, const std::optional<gl::StencilTest>& stencil, bool count);
    [[nodiscard]] bool one_test(std::span<const std::vector<Leaf>> clauses);
    [[nodiscard]] bool one_test(const Range& range);
    [[nodiscard]] BitsPtr bits_at(int level);

    void load(std::size_t column, int plane);
    // For the search of the k-th largest of the selected rows, with its bits found in earlier planes.
    void load_found(std::size_t column, int plane, int known, std::uint32_t k, const Bits& rows);
    [[nodiscard]] Key kth_largest(std::size_t column, std::uint64_t k, const Bits& rows);
    // The runs of planes that have some, as depth.glsl reads them.
    static void add_runs(gl::Pass& pass, const GpuColumn::Depths& depths);
    void start(std::uint8_t level);
    struct Test {
        int level = 0;  // of the clause; 0: between two, or of none
        std::optional<gl::StencilTest> stencil{};
        std::optional<gl::Compare> depth{};
        std::uint32_t code = 0;
        std::optional<std::array<std::uint32_t, 2>> bounds{};  // codes
    };
    void test(const char* name, const Test& test, bool count = false);
    void issue(gl::Pass pass, bool count);
    // Draws the passes that count the rows for which all clauses hold, at most most_clauses of them.
    void issue_count(const Clauses& clauses);
    // The queries that count; the caller owns them now.
    [[nodiscard]] std::unique_ptr<Counting> take_queries();

    [[nodiscard]] const GpuColumn& column(std::size_t i) const { return *bitmap_.column(i); }
    [[nodiscard]] static const gl::Texture& texture(const Bits& bits) { return BitmapColumns::texture(bits); }

    DepthEngine& engine_;
    gl::Device& device_;
    pass::Programs& programs_;
    BitmapColumns bitmap_;  // does all else
    std::shared_ptr<DepthBuffers> buffers_;
    DepthHolds holds_{};  // what the tests that follow are of
    std::size_t queries_used_ = 0;
};

}  // namespace quadmill::detail::query
