// DepthColumns: the common parts of all passes of the depth engine, and loads.
#include <algorithm>
#include <iterator>
#include <utility>

#include "query/gpu/counting_samples.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

const std::string& depth_code() {
    static const std::string glsl =
        "#define FIRST_DEPTH " + std::to_string(first_depth) + "u\n" + shaders::query_depth_code_glsl;
    return glsl;
}

const char* at_depth_vertex() {
    static const std::string glsl = depth_code() + shaders::query_at_depth_vert;
    return glsl.c_str();
}

DepthColumns::DepthColumns(DepthEngine& engine, const std::shared_ptr<GpuTables::Pool>& pool,
                           std::shared_ptr<DepthBuffers> buffers)
    : engine_(engine),
      device_(engine.tables_.device()),
      programs_(engine.tables_.programs()),
      bitmap_(engine.tables_, pool),
      buffers_(std::move(buffers)) {}

void DepthColumns::add(const TableData& table, const RowPart& part, std::span<const std::size_t> columns) {
    bitmap_.add(table, part, columns);
    // The content of the application's texture may have changed since it was copied to the depth buffer.
    const auto of_host = [&](std::size_t i) { return std::holds_alternative<HostObjects>(table.columns[i]->values); };
    if (std::ranges::any_of(columns, of_host)) forget_depth();
}

bool DepthColumns::has_nulls(std::size_t i) const {
    return column(i).valid != bitmap_.all();
}

std::string DepthColumns::prelude(ColumnType type, const DepthPlanes& planes) const {
    return keys_prelude(type, bitmap_.shape().words) + (planes.runs.empty() ? "" : "#define RUNS\n") + depth_code() +
           shaders::query_shifted_glsl + shaders::query_selection_glsl + shaders::query_depth_glsl;
}

const GpuColumn::Depths& DepthColumns::depths_of(std::size_t i) {
    auto& of = *bitmap_.column(i);
    if (of.depths) return *of.depths;
    const auto data = of.data.lock();
    GpuColumn::Depths made{.planes = DepthPlanes::of(*data, of.part.first, of.part.rows), .runs = {}};
    if (!made.planes.runs.empty()) {
        std::vector<std::array<std::uint32_t, 4>> list;
        for (const auto& [keys, code] : made.planes.runs) list.push_back({low(keys.first), high(keys.first), code, 0});
        made.runs = bitmap_.send_list(gl::Format::Rgba32ui, std::as_bytes(std::span(list)));
    }
    return of.depths.emplace(std::move(made));
}

void DepthColumns::add_runs(gl::Pass& pass, const GpuColumn::Depths& depths) {
    if (depths.planes.runs.empty()) return;
    pass.inputs[2] = &depths.runs;
    pass.uniforms.set("runs", static_cast<int>(depths.planes.runs.size()));
}

void DepthColumns::start(std::uint8_t level) {
    queries_used_ = 0;
    gl::clear_stencil(device_, buffers_->target, level);
}

void DepthColumns::issue(gl::Pass pass, bool count) {
    pass.target = &buffers_->target;
    pass.color = gl::ColorWrite::Off;
    pass.quads = &buffers_->rows;
    pass.count = buffers_->rows.quads().size();
    if (count) {
        auto& queries = engine_.queries_;
        if (queries_used_ == queries.size()) {
            auto spare = engine_.spare_queries_->take([](const gl::Query& /*query*/) { return true; });
            queries.push_back(spare ? std::move(*spare) : gl::Query(device_, gl::Query::Kind::Samples));
        }
        pass.count_samples = &queries[queries_used_++];
    }
    draw(device_, pass);
}

Counting DepthColumns::take_queries() {
    auto& all = engine_.queries_;
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::exchange(queries_used_, 0));
    std::vector<gl::Query> taken(std::make_move_iterator(all.begin()), std::make_move_iterator(end));
    all.erase(all.begin(), end);
    return counting_samples(std::move(taken), 0, engine_.spare_queries_);
}

void DepthColumns::test(const char* name, const Test& test, bool count) {
    QueryNote note{.act = QueryNote::Act::Test, .clause = test.level, .depth = &holds_, .bounds = test.bounds};
    const auto& program = programs_.get("query/at_depth.vert", {at_depth_vertex(), shaders::query_nothing_frag});
    gl::Pass pass{
        .name = name, .note = &note, .program = &program, .uniforms = {{"code", test.code}}, .stencil = test.stencil};
    if (test.depth) {
        pass.depth = gl::DepthTest{.pass_if = *test.depth};
        note.code = test.code;
    }
    if (test.bounds) pass.depth_bounds = {{depth_of((*test.bounds)[0]), depth_of((*test.bounds)[1])}};
    issue(std::move(pass), count);
}

void DepthColumns::load(std::size_t i, int plane) {
    const auto& known = bitmap_.column(i);
    const auto& depths = depths_of(i);
    const auto& planes = depths.planes;
    holds_ = {.column = i, .planes = &planes, .plane = plane};
    if (buffers_->column.lock() == known && buffers_->plane == plane) return;
    const QueryNote note{.act = QueryNote::Act::Load, .depth = &holds_};
    const auto& program = programs_.get("query/to_depth.frag", {at_depth_vertex(), shaders::query_to_depth_frag},
                                        prelude(known->type, planes));
    buffers_->column.reset();  // in case the pass fails
    gl::Pass pass{.name = "to depth",
                  .note = &note,
                  .program = &program,
                  .inputs = {&known->keys, &texture(*known->valid)},
                  .uniforms = {key_uniform("base", known->type, planes.base),
                               {"shift", planes.shift(plane)},
                               {"mask", planes.mask()},
                               {"null_code", planes.null_code}},
                  .depth = gl::DepthTest{.pass_if = gl::Compare::Always, .write = gl::DepthWrite::On}};
    add_runs(pass, depths);
    issue(std::move(pass), false);
    buffers_->column = known;
    buffers_->plane = plane;
}

void DepthColumns::copy_to_depth(std::size_t i) {
    forget_depth();
    for (int plane = 0; plane < planes_of(i).planes; ++plane) load(i, plane);
}

void DepthColumns::selected(const Bits& bits, int level, const std::optional<gl::StencilTest>& stencil, bool count) {
    const auto& program = programs_.get("query/at_selected.frag", {at_depth_vertex(), shaders::query_at_selected_frag},
                                        shaders::query_selection_glsl);
    const QueryNote note{.act = QueryNote::Act::TestBits, .clause = level};
    issue({.name = "selected", .note = &note, .program = &program, .inputs = {&texture(bits)}, .stencil = stencil},
          count);
}

Counting DepthColumns::count_later(const Bits& rows) {
    queries_used_ = 0;
    selected(rows, 0, std::nullopt, true);
    return take_queries();
}

void DepthColumns::send_again(std::span<const std::size_t> columns) {
    bitmap_.send_again(columns);
    forget_depth();
}

}  // namespace quadmill::detail::query
