// The state after each pass of counting the rows of a condition: the real engine, watched through a PassObserver that
// reads back the depth and stencil buffers or the selections, and the count of the occlusion query.
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

// The content of the depth buffer: a plane of a column's keys, or the differences of two columns.
struct DepthContent {
    std::size_t column = 0;             // of the table
    std::optional<std::size_t> less{};  // what is subtracted from it
    query::DepthPlanes planes{};        // of a column alone
    int plane = 0;
    [[nodiscard]] bool is_difference() const { return less.has_value(); }
    [[nodiscard]] bool whole() const { return !is_difference() && planes.planes == 1; }
    // The number of codes, without NULL.
    [[nodiscard]] std::uint32_t codes() const { return is_difference() ? query::depth_codes : planes.null_code; }
};

struct QueryStep {
    std::string name;  // of the pass; "rows" before any
    std::optional<query::QueryNote::Act> act;
    // The rest is per row, after the pass; empty if the engine has no such buffer (yet).
    std::vector<std::uint32_t> depth;  // as codes, which count the depths that there are
    std::vector<std::uint8_t> stencil;
    std::vector<bool> selected;  // the bits that it wrote, or those that it counts
    std::vector<bool> passed;    // the tests of this pass, or that bit
    std::optional<DepthContent> content;

    // The tests, and the depth of the quad that was drawn, as a code.
    std::optional<gl::DepthTest> depth_test;
    std::optional<gl::StencilTest> stencil_test;
    std::optional<std::array<std::uint32_t, 2>> bounds;
    std::optional<std::uint32_t> drawn;
    std::optional<std::uint64_t> counted;
    int level = 0;  // that the stencil of a row counts to at least, unless the row has lost; 0: no stencil

    [[nodiscard]] std::uint64_t rows_passed() const;
    [[nodiscard]] bool is_load() const { return act == query::QueryNote::Act::Load; }
    // Whether the depth engine tests the pixels of all rows.
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
    int levels = 1;           // that the stencil counts to
    std::uint8_t flags = 0;   // bits of the stencil above it that are used
    int texture_width = 0;    // of the depth buffer, or bits of a line of a selection

    [[nodiscard]] std::size_t rows() const { return table.rows(); }
};

// The value of a depth; nothing if the depth is only a part of the keys, or outside of them.
[[nodiscard]] std::optional<Value> value_at(const WatchedQuery& query, const DepthContent& content, std::uint32_t code);

class QueryWatcher {
  public:
    static constexpr std::size_t most_rows = std::size_t{1} << 16U;  // all steps are kept
    // Throws InvalidArgument for too many rows, and for none.
    QueryWatcher(Context context, Table table);

    [[nodiscard]] const Table& table() const { return table_; }
    // COUNT(*) of the rows. Engines keep the last column in the depth buffer, so the same call may take one pass less
    // the second time. Throws InvalidArgument for engines other than Depth and Bitmap.
    [[nodiscard]] WatchedQuery watch(const Predicate& where, QueryEngine engine);

  private:
    [[nodiscard]] QueryProcessor& processor(QueryEngine engine);

    Context context_;
    Table table_;
    std::optional<QueryProcessor> depth_, bitmap_;
    std::optional<DepthContent> content_;
};

}  // namespace quadmill::detail::show
