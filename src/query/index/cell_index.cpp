#include "query/index/cell_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "cpu/sort.hpp"
#include "gl/device.hpp"
#include "pass/grid.hpp"
#include "pass/layout.hpp"
#include "query/gpu/bit_list.hpp"
#include "query/gpu/counting_samples.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"
#include "sort/caller_keys.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::query {

namespace {

constexpr std::size_t rows_a_cell = 16, max_lines = 2048;           // of two columns
constexpr std::size_t rows_a_cell_of_one = 1024, max_cells = 8192;  // of one column; the edge has two cells
constexpr std::size_t sample_a_cell = 64;
constexpr int tested_lines = 1024;  // of list_width rows: those that a pass tests
constexpr int fold_lines = 16;

// The cells of each column.
std::size_t cells_a_column(std::size_t rows, std::size_t columns) {
    if (columns == 1) return std::clamp<std::size_t>(rows / rows_a_cell_of_one, 1, max_cells);
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(rows) / rows_a_cell));
    return std::clamp<std::size_t>(side, 1, max_lines);
}

gl::Texture send_nodes(BitmapColumns& columns, const CutTree& tree, ColumnType type) {
    if (wide(type)) return columns.send_list(gl::Format::Rgba32ui, std::as_bytes(std::span(tree.nodes)));
    std::vector<std::uint32_t> keys;
    keys.reserve(tree.nodes.size());
    for (const auto key : tree.nodes) keys.push_back(low(key));
    return columns.send_list(gl::Format::Rgba32ui, std::as_bytes(std::span(keys)));
}

glm::uvec4 range_words(const KeyRange& range) {
    const auto span = range.high - range.low;
    return {low(range.low), high(range.low), low(span), high(span)};
}

}  // namespace

CellIndex::CellIndex(BitmapColumns& columns, std::span<const std::size_t> on)
    : tables_(columns.tables()), device_(tables_.device()), shape_(columns.shape()) {
    for (const auto i : on) columns_.push_back(columns.column(i));
    const auto cells = cells_a_column(shape_.rows, columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) cuts_.at(i) = cuts_of(*columns_[i], cells);
    order_rows(cells_of_rows(columns));
    if (device_.features.exact_counts) {
        counted_ = pass::Target(device_, gl::Format::R8, list_width, tested_lines);
        std::vector<gl::Quad> lines;
        for (int y = 0; y < tested_lines; ++y) lines.push_back(gl::rectangle(0, y, list_width, y + 1));
        lines_ = gl::QuadList(device_, std::move(lines));
    } else {
        fold_.emplace(device_, gl::Format::Rgba32ui, list_width, fold_lines);
    }
    edge_program_ = &tables_.programs().get(
        "query/index_edge.frag", shaders::query_index_edge_frag,
        prelude() + shaders::query_index_cells_glsl + (fold_ ? define("FOLDED", list_width * fold_lines) : ""));
}

std::size_t CellIndex::bytes() const {
    return rows_.texture.bytes() + sums_on_gpu_.bytes() + counted_.texture.bytes() + (fold_ ? fold_->bytes() : 0);
}

std::string CellIndex::prelude() const {
    return (two() ? "#define TWO\n" + define("WIDE_Y", wide(columns_[1]->type)) : std::string()) +
           define("WIDE_X", wide(columns_[0]->type)) + keys_prelude(ColumnType::U32, shape_.words) +
           shaders::query_selection_glsl;
}

Cuts CellIndex::cuts_of(const GpuColumn& of, std::size_t cells) {
    const auto stride = std::max<std::size_t>(shape_.rows / (cells * sample_a_cell), 1), n = up(shape_.rows, stride);
    const pass::Target list(device_, gl::Format::Rgba32ui, list_width,
                            static_cast<int>(up(std::max<std::size_t>(n, 1), list_width)));
    const auto& program = tables_.programs().get(
        "query/index_sample.frag", shaders::query_index_sample_frag,
        define("WIDE_X", wide(of.type)) + keys_prelude(ColumnType::U32, shape_.words) + shaders::query_selection_glsl);
    pass::fill(device_, "sample keys", program, list, {&of.keys, &BitmapColumns::texture(*of.valid)},
               {{"rows", static_cast<int>(shape_.rows)}, {"stride", static_cast<int>(stride)}});
    tables_.readback().request(device_, list.texture);
    std::vector<MeasuredTexel> texels(n);
    tables_.readback().copy_to(std::as_writable_bytes(std::span(texels)), tables_.workers());
    std::vector<Key> sample;
    sample.reserve(n);
    for (const auto& texel : texels) {
        if (texel[2] != 0) sample.push_back(key_of_texel({texel[0], texel[1], 0, 0}));
    }
    cpu::sort_keys(std::span(sample), Order::Ascending, tables_.workers());
    return {sample, cells, of.min, of.max};
}

pass::Target CellIndex::cells_of_rows(BitmapColumns& columns) {
    const auto shape = pass::FourArray::of_blocks(0, std::max<std::size_t>(shape_.rows, 1));
    pass::Target cells(device_, gl::Format::R32ui, shape.width, shape.height);
    std::array<gl::Texture, 2> nodes;
    glm::ivec2 levels{};
    gl::Uniforms uniforms{{"rows", static_cast<int>(shape_.rows)},
                          {"target_width", shape.width},
                          {"cells", glm::ivec2(cuts_[0].cells(), cuts_[1].cells())}};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto tree = cuts_.at(i).tree();
        nodes.at(i) = send_nodes(columns, tree, columns_[i]->type);
        levels[static_cast<int>(i)] = tree.levels;
        for (std::size_t k = 0; k < tree.top.size(); k += 2)
            uniforms.set("tops[" + std::to_string((i * tree.top.size() + k) / 2) + "]",
                         glm::uvec4(words_of(tree.top[k]), words_of(tree.top[k + 1])));
    }
    uniforms.set("levels", levels);
    const auto& x = *columns_.front();
    const auto& y = *columns_.back();
    pass::fill(device_, "cells of rows",
               tables_.programs().get("query/index_cell.frag", shaders::query_index_cell_frag, prelude()), cells,
               {&x.keys, &BitmapColumns::texture(*x.valid), &nodes[0], two() ? &y.keys : nullptr,
                two() ? &BitmapColumns::texture(*y.valid) : nullptr, two() ? &nodes[1] : nullptr},
               std::move(uniforms));
    return cells;
}

void CellIndex::order_rows(pass::Target cells) {
    const auto n = std::max<std::size_t>(shape_.rows, 1);
    const sort::KeyForm form{KeyType::U32, Order::Ascending, true};
    sort::MergeSort sorter(device_, tables_.workers());  // its textures are freed at the end
    pass::QuadLists quads(device_);
    const auto sorted = sorter.sort_drawn(form, n, [&](const auto& source, auto source_rows) {
        sort::draw_keys(device_, tables_.programs(), quads, cells.texture, {.keys = n}, form.padding(), source,
                        source_rows);
    });
    sorter.store_index(sorted, cells.framebuffer, n);

    const int across = cuts_[0].cells(), lines = cuts_[1].cells();
    pass::PingPong sums(device_, gl::Format::R32ui, across + 1, lines + 1);
    pass::fill(device_, "cell starts",
               tables_.programs().get("query/index_starts.frag", shaders::query_index_starts_frag, sorted.prelude),
               sums.now, {sorted.keys},
               gl::Uniforms(sorted.uniforms).set("rows", static_cast<int>(n)).set("across", across));
    const auto& add = tables_.programs().get("query/index_sums.frag", shaders::query_index_sums_frag);
    for (int stride = 1; stride <= lines; stride *= 2)
        pass::advance(device_, "sum lines", add, sums, {}, {{"stride", stride}});
    sums_width_ = across + 1;
    sums_.resize(product(sums_width_, lines + 1));
    tables_.readback().request(device_, sums.now.texture);
    sums_on_gpu_ = std::move(sums.now.texture);
    rows_ = std::move(cells);
    tables_.readback().copy_to(std::as_writable_bytes(std::span(sums_)), tables_.workers());
}

std::uint32_t CellIndex::rows_in(const Block& block) const {
    const auto at = [this](int x, int y) { return sums_[product(y, sums_width_) + static_cast<std::size_t>(x)]; };
    return at(block.x1, block.y1) - at(block.x0, block.y1) - at(block.x1, block.y0) + at(block.x0, block.y0);
}

CellIndex::Edge CellIndex::Cells::edge() const {
    return {Block{outer.x0, outer.y0, outer.x1, inner.y0}, Block{outer.x0, inner.y0, inner.x0, inner.y1},
            Block{inner.x1, inner.y0, outer.x1, inner.y1}, Block{outer.x0, inner.y1, outer.x1, outer.y1}};
}

std::optional<CellIndex::Cells> CellIndex::cells_of(std::span<const KeyRange> ranges) const {
    const auto x = cuts_[0].cells_of(ranges.front());
    const auto y = two() ? cuts_[1].cells_of(ranges.back()) : CellsOfRange{{0, 1}, {0, 1}};
    if (!x || !y) return {};
    return Cells{.outer = {x->outer.begin, y->outer.begin, x->outer.end, y->outer.end},
                 .inner = {x->inner.begin, y->inner.begin, x->inner.end, y->inner.end}};
}

std::uint32_t CellIndex::rows_on_edge(std::span<const KeyRange> ranges) const {
    const auto cells = cells_of(ranges);
    return cells ? rows_in(cells->outer) - rows_in(cells->inner) : 0;
}

std::uint32_t CellIndex::rows_near(std::span<const KeyRange> ranges) const {
    const auto cells = cells_of(ranges);
    return cells ? rows_in(cells->outer) : 0;
}

gl::Uniforms CellIndex::uniforms() const {
    return {{"across", cuts_[0].cells()},
            {"rows_log2", std::countr_zero(static_cast<unsigned>(rows_.texture.width()))}};
}

void CellIndex::list_near(std::span<const KeyRange> ranges, const pass::Target& list) const {
    const auto cells = cells_of(ranges).value_or(Cells{});
    const auto& [x0, y0, x1, y1] = cells.outer;
    const auto& program = tables_.programs().get("query/index_list.frag", shaders::query_index_list_frag,
                                                 shaders::query_index_cells_glsl);
    pass::fill(device_, "list rows near", program, list, {&rows_.texture, &sums_on_gpu_},
               uniforms().set("block", glm::ivec4(x0, y0, x1, y1)).set("count", rows_in(cells.outer)));
}

gl::Pass CellIndex::edge_pass(const Edge& edge, std::span<const KeyRange> ranges, const glm::uvec4& ends) const {
    gl::Pass pass{.name = "test edge", .program = edge_program_, .uniforms = uniforms()};
    pass.inputs = {&rows_.texture, &sums_on_gpu_, &columns_.front()->keys, two() ? &columns_.back()->keys : nullptr};
    pass.uniforms.set("ends", ends).set("x_range", range_words(ranges.front()));
    if (two()) pass.uniforms.set("y_range", range_words(ranges.back()));
    for (std::size_t i = 0; i < edge.size(); ++i) {
        const auto& block = edge.at(i);
        pass.uniforms.set("blocks[" + std::to_string(i) + "]", glm::ivec4(block.x0, block.y0, block.x1, block.y1));
    }
    return pass;
}

Counting CellIndex::count_samples(gl::Pass pass, std::uint64_t inside, std::uint32_t rows) {
    std::vector<gl::Query> queries;
    pass.target = &counted_.framebuffer;
    pass.color = gl::ColorWrite::Off;
    pass.quads = &lines_;
    constexpr std::uint32_t a_pass = std::uint32_t{list_width} * tested_lines;
    for (std::uint32_t first = 0; first < rows; first += std::min(a_pass, rows - first)) {
        auto part = pass;
        part.uniforms.set("first", first);
        part.count = up(std::min(a_pass, rows - first), list_width);
        auto spare = queries_->take([](const gl::Query& /*query*/) { return true; });
        queries.push_back(spare ? std::move(*spare) : gl::Query(device_, gl::Query::Kind::Samples));
        part.count_samples = &queries.back();
        draw(device_, part);
    }
    return counting_samples(std::move(queries), inside, queries_);
}

Counting CellIndex::count_folded(gl::Pass pass, std::uint64_t inside) {
    pass.target = &fold_->source().framebuffer;
    pass.quads = &fold_->source().whole;
    draw(device_, pass);
    const auto& counted = (*fold_)(device_, tables_.programs(), pass::FoldRule(pass::FoldBy::Counts));
    tables_.readback().request(device_, counted);
    return known(inside + texel_of(tables_.readback())[0]);
}

Counting CellIndex::count_later(std::span<const KeyRange> ranges) {
    const auto cells = cells_of(ranges);
    if (!cells) return known(std::uint64_t{0});
    const std::uint64_t inside = rows_in(cells->inner);
    const auto edge = cells->edge();
    glm::uvec4 ends{};
    std::uint32_t rows = 0;
    for (std::size_t i = 0; i < edge.size(); ++i) ends[static_cast<int>(i)] = rows += rows_in(edge.at(i));
    if (rows == 0) return known(inside);
    auto pass = edge_pass(edge, ranges, ends);
    return fold_ ? count_folded(std::move(pass), inside) : count_samples(std::move(pass), inside, rows);
}

}  // namespace quadmill::detail::query
