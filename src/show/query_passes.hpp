// The state after each pass of counting the rows of a condition. The real engine runs; a PassObserver reads back the
// depth and stencil buffers or the selections, and the count of the occlusion query.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gl/pass.hpp"
#include "quadmill/context.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/notes.hpp"

namespace quadmill::detail::show {

// Content of the depth buffer: a plane of a column's keys, or the differences of two columns.
struct DepthContent {
    std::size_t column = 0;             // index in the table
    std::optional<std::size_t> less{};  // a column that is subtracted
    query::DepthPlanes planes{};        // for a single column
    int plane = 0;
    [[nodiscard]] bool is_difference() const { return less.has_value(); }
    [[nodiscard]] bool whole() const { return !is_difference() && planes.planes == 1; }
    // The number of codes, without NULL.
    [[nodiscard]] std::uint32_t codes() const { return is_difference() ? query::depth_codes : planes.null_code; }
};

struct QueryStep {
    std::string name;  // of the pass; "rows" before any
    std::optional<query::QueryNote::Act> act;
    // The following vectors have one entry per row, after the pass. They are empty if the engine has no such buffer
    // (yet).
    std::vector<std::uint32_t> depth;  // as codes, which number the possible depths
    std::vector<std::uint8_t> stencil;
    std::vector<bool> selected;  // bits that the pass wrote or counts
    std::vector<bool> passed;    // whether the row passed this pass's tests, or has that bit
    std::optional<DepthContent> content;

    // The tests, and the depth of the quad that was drawn, as a code.
    std::optional<gl::DepthTest> depth_test;
    std::optional<gl::StencilTest> stencil_test;
    std::optional<std::array<std::uint32_t, 2>> bounds;
    std::optional<std::uint32_t> drawn;
    std::optional<std::uint64_t> counted;
    int level = 0;  // a row's stencil counts at least to this, unless the row is ruled out; 0: no stencil

    [[nodiscard]] std::uint64_t rows_passed() const;
    [[nodiscard]] bool is_load() const { return act == query::QueryNote::Act::Load; }
    // Whether the pass tests the pixels of all rows, as the depth engine does.
    [[nodiscard]] bool is_test() const {
        using Act = query::QueryNote::Act;
        return act == Act::Test || act == Act::TestSum || act == Act::TestBits;
    }
};

// The first step is the table before any pass.
struct WatchedQuery {
    Table table;
    std::string condition;
    QueryEngine engine = QueryEngine::Depth;
    std::vector<QueryStep> steps;
    std::uint64_t count = 0;  // the answer
    int levels = 1;           // number that the stencil counts to
    std::uint8_t flags = 0;   // stencil bits above the count that are used
    int texture_width = 0;    // width of the depth buffer, or bits per line of a selection

    [[nodiscard]] std::size_t rows() const { return table.rows(); }
};

// The value of a depth; nothing if the depth has only a part of the keys, or is outside of them.
[[nodiscard]] std::optional<Value> value_at(const WatchedQuery& query, const DepthContent& content, std::uint32_t code);

class QueryWatcher {
  public:
    static constexpr std::size_t max_rows = std::size_t{1} << 16U;  // because all steps are kept
    // Throws InvalidArgument if there are too many rows, or none.
    QueryWatcher(Context context, Table table);

    [[nodiscard]] const Table& table() const { return table_; }
    // Runs COUNT(*) for the rows. Engines keep the last column in the depth buffer, so repeating a call may take one
    // pass less. Auto is Depth, or Bitmap where Depth cannot work. Throws InvalidArgument for Cpu.
    [[nodiscard]] WatchedQuery watch(const Predicate& where, QueryEngine engine);

  private:
    [[nodiscard]] QueryProcessor& processor(QueryEngine engine);

    Context context_;
    Table table_;
    std::optional<QueryProcessor> depth_, bitmap_;
    std::optional<DepthContent> content_;
};

}  // namespace quadmill::detail::show
