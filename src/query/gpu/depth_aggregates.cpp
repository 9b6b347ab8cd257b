// DepthColumns: k-th largest values and sums, found by counting.
#include <bit>
#include <utility>

#include "query/gpu/depth_engine.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

Key DepthColumns::kth(std::size_t i, std::uint64_t k, const Bits& rows) {
    return kth_largest(i, count(rows) - k, rows);
}

std::pair<Key, Key> DepthColumns::extremes(std::size_t i, const Bits& rows) {
    return {kth_largest(i, count(rows), rows), kth_largest(i, 1, rows)};
}

// 'Query Processing on GPUs': finds the key bit by bit, beginning with the highest. A bit is 1 if at least k values are
// >= the key with that bit.
Key DepthColumns::kth_largest(std::size_t i, std::uint64_t k, const Bits& rows) {
    const auto& planes = planes_of(i);
    if (planes.width == 0) return planes.key(0);
    const auto found = std::string(shaders::query_shifted_glsl) + shaders::query_found_bits_glsl;
    const auto vertex = depth_code() + found + shaders::query_at_next_bit_vert;
    const auto& program = programs_.get("query/at_next_bit.vert", {vertex.c_str(), shaders::query_nothing_frag});
    const auto width = static_cast<std::size_t>(planes.width);
    if (engine_.counts_.size() < width) engine_.counts_ = gl::CountList(device_, width);
    queries_used_ = 0;
    holds_ = {.column = i, .planes = &planes};
    const QueryNote note{.act = QueryNote::Act::Test, .depth = &holds_};
    for (int known = 0, plane = -1; known < planes.width; ++known) {
        const int next = planes.plane_of_bit(planes.width - 1 - known);
        if (std::exchange(plane, next) != next) load_found(i, plane, known, static_cast<unsigned>(k), rows);
        issue({.name = "next bit",
               .note = &note,
               .program = &program,
               .inputs = {nullptr, nullptr, &engine_.counts_.texture()},
               .uniforms = {{"bits", planes.width},
                            {"known", known},
                            {"shift", planes.shift(plane)},
                            {"mask", planes.mask()},
                            {"k", static_cast<unsigned>(k)}},
               .depth = gl::DepthTest{.pass_if = at_least}},
              true);
        engine_.counts_.note(static_cast<std::size_t>(known), engine_.queries_[queries_used_ - 1]);
    }
    queries_used_ = 0;
    const auto counts = engine_.counts_.read();
    Key value = 0;
    for (std::size_t bit = 0; bit < width; ++bit) value = value << 1U | Key{counts[bit] >= k ? 1U : 0U};
    return planes.key(value);
}

void DepthColumns::load_found(std::size_t i, int plane, int known, std::uint32_t k, const Bits& rows) {
    const auto& depths = depths_of(i);
    const auto& planes = depths.planes;
    if (planes.planes == 1 && &rows == bitmap_.all().get()) return load(i, 0);
    const auto& of = bitmap_.column(i);
    const auto vertex =
        std::string(shaders::query_shifted_glsl) + shaders::query_found_bits_glsl + shaders::query_found_prefix_vert;
    const auto& program = programs_.get("query/found_plane.frag", {vertex.c_str(), shaders::query_found_plane_frag},
                                        prelude(of->type, planes));
    forget_depth();
    holds_.plane = plane;
    const QueryNote note{.act = QueryNote::Act::Load, .depth = &holds_};
    gl::Pass pass{.name = "plane to depth",
                  .note = &note,
                  .program = &program,
                  .inputs = {&of->keys, &texture(rows), &engine_.counts_.texture()},
                  .uniforms = {{"bits", planes.width},
                               {"known", known},
                               {"k", k},
                               key_uniform("base", of->type, planes.base),
                               {"shift", planes.shift(plane)},
                               {"above", planes.shift(plane) + planes.bits},
                               {"mask", planes.mask()},
                               {"null_code", planes.null_code}},
                  .depth = gl::DepthTest{.pass_if = gl::Compare::Always, .write = gl::DepthWrite::On}};
    add_runs(pass, depths);
    issue(std::move(pass), false);
}

Sum DepthColumns::sum(std::size_t i, const Bits& rows) {
    const auto& of = column(i);
    if (of.type == ColumnType::F32 || of.type == ColumnType::F64) return bitmap_.sum(i, rows);
    const auto& program =
        programs_.get("query/at_bit.frag", {at_depth_vertex(), shaders::query_at_bit_frag}, prelude(of.type, {}));
    const QueryNote note{.act = QueryNote::Act::TestSum};
    start(first_level - 1);
    selected(rows, 0, at_level(first_level - 1, gl::StencilOp::Increment), true);  // counts the rows
    const int bits = of.max > of.min ? static_cast<int>(std::bit_width(of.max - of.min)) : 0;
    for (int bit = 0; bit < bits; ++bit) {
        issue({.name = "bit",
               .note = &note,
               .program = &program,
               .inputs = {&of.keys},
               .uniforms = {key_uniform("base", of.type, of.min), {"shift", bit}},
               .stencil = at_level(first_level)},
              true);
    }
    const auto result = [&](int query) { return engine_.queries_[static_cast<std::size_t>(query)].result(); };
    Sum sum;
    const auto n = result(0);
    for (int bit = 0; bit < bits; ++bit) sum.integer += Integer{result(bit + 1)} << bit;
    sum.integer += Integer{n} * of.min;
    queries_used_ = 0;
    remove_bias(sum, of.type, n);
    return sum;
}

}  // namespace quadmill::detail::query
