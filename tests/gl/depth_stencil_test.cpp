// Compares depth and stencil tests, and points, with an emulation on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bench_shaders.hpp"
#include "gl/host.hpp"
#include "gl/pass.hpp"
#include "gl/pass_bench.hpp"
#include "gl/state_poison.hpp"
#include "gl/texels.hpp"

using namespace quadmill;
using namespace quadmill::detail::gl;
using namespace quadmill::test;

namespace {

constexpr std::array all_comparisons{Compare::Never,   Compare::Less,     Compare::Equal,          Compare::LessOrEqual,
                                     Compare::Greater, Compare::NotEqual, Compare::GreaterOrEqual, Compare::Always};

bool passes(Compare compare, float incoming, float stored) {
    switch (compare) {
        case Compare::Never:
            return false;
        case Compare::Less:
            return incoming < stored;
        case Compare::Equal:
            return incoming == stored;
        case Compare::LessOrEqual:
            return incoming <= stored;
        case Compare::Greater:
            return incoming > stored;
        case Compare::NotEqual:
            return incoming != stored;
        case Compare::GreaterOrEqual:
            return incoming >= stored;
        case Compare::Always:
            break;
    }
    return true;
}

int after(StencilOp op, int stored, int reference) {
    switch (op) {
        case StencilOp::Zero:
            return 0;
        case StencilOp::Replace:
            return reference;
        case StencilOp::Increment:
            return std::min(stored + 1, 255);
        case StencilOp::Decrement:
            return std::max(stored - 1, 0);
        case StencilOp::Invert:
            return ~stored & 255;
        case StencilOp::Keep:
            break;
    }
    return stored;
}

// Some values are from a small set, so that every comparison holds for some of them and fails for others.
template <class T>
std::vector<T> few_values(Random& random, std::size_t count, const std::vector<T>& of) {
    std::vector<T> values(count);
    for (auto& value : values) value = of[random.index(static_cast<GLuint>(of.size()))];
    return values;
}

}  // namespace

TEST_CASE(
    "a depth test keeps and counts the fragments that the CPU emulation does, and writes their depth if asked to") {
    Bench bench;
    auto& device = bench.device;
    const Program program(device, "depth from a texture",
                          "uniform highp sampler2D texture0;\nin vec2 texel;\nout float value;\nvoid main() {\n"
                          "    value = texelFetch(texture0, ivec2(texel), 0).x;\n    gl_FragDepth = value;\n}");
    Random random(15);
    const DrawnTexture source(device, Format::R32f, test_width, test_height);
    const Texture color(device, Format::R32f, test_width, test_height),
        depth(device, Format::Depth32f, test_width, test_height);
    const Framebuffer target(device, color, &depth);
    const QuadList quads(device, {test_quad});
    const Query count(device, Query::Kind::Samples);
    Pass pass{.name = "test",
              .program = &program,
              .inputs = {&source.texture},
              .target = &target,
              .quads = &quads,
              .first = 0,
              .count = 1,
              .count_samples = &count};
    const std::size_t texels = std::size_t{test_width} * test_height;
    for (const auto compare : all_comparisons) {
        for (const auto write : {DepthWrite::Off, DepthWrite::On}) {
            CAPTURE(static_cast<int>(compare));
            const std::vector<float> values{0, 0.25F, 0.5F, 0.640625F, 1};
            const auto incoming = few_values(random, texels, values), stored = few_values(random, texels, values);
            write_texels(device, source.texture, incoming);
            write_texels(device, depth, stored);
            fill(device, color, -1);
            pass.depth = DepthTest{.pass_if = compare, .write = write};
            draw(device, pass);
            std::vector<float> colors(texels, -1), depths = stored;
            std::uint64_t passed = 0;
            for_each_in_test_quad([&](std::size_t i) {
                if (!passes(compare, incoming[i], stored[i])) return;
                ++passed;
                colors[i] = incoming[i];
                if (write == DepthWrite::On) depths[i] = incoming[i];
            });
            CHECK(read_texels<float>(device, color) == colors);
            CHECK(read_texels<float>(device, depth) == depths);
            CHECK(count.result() == passed);
            // The next pass has no test.
            pass.depth.reset();
            draw(device, pass);
            for_each_in_test_quad([&](std::size_t i) { colors[i] = incoming[i]; });
            CHECK(read_texels<float>(device, color) == colors);
            CHECK(read_texels<float>(device, depth) == depths);
        }
    }
}

TEST_CASE("a stencil test keeps, counts and changes the same as the CPU emulation") {
    Bench bench;
    auto& device = bench.device;
    const Program one(device, "one", detail::shaders::bench_one_frag);
    Random random(16);
    const Texture color(device, Format::R32f, test_width, test_height),
        stencil(device, Format::Stencil8, test_width, test_height);
    const Framebuffer target(device, color, &stencil);
    const QuadList quads(device, {test_quad});
    const Query count(device, Query::Kind::Samples);
    Pass pass{.name = "test",
              .program = &one,
              .target = &target,
              .quads = &quads,
              .first = 0,
              .count = 1,
              .count_samples = &count};
    const std::size_t texels = std::size_t{test_width} * test_height;
    constexpr std::array ops{StencilOp::Keep,      StencilOp::Zero,      StencilOp::Replace,
                             StencilOp::Increment, StencilOp::Decrement, StencilOp::Invert};
    for (const auto compare : all_comparisons) {
        for (std::size_t op = 0; op < ops.size(); ++op) {
            CAPTURE(static_cast<int>(compare));
            CAPTURE(op);
            const StencilTest test{
                .pass_if = compare, .reference = 7, .on_fail = ops[(op + 1) % ops.size()], .on_pass = ops[op]};
            const auto stored = few_values<std::uint8_t>(random, texels, {0, 6, 7, 8, 200, 255});
            write_texels(device, stencil, stored);
            fill(device, color, -1);
            pass.stencil = test;
            draw(device, pass);
            std::vector<float> colors(texels, -1);
            auto stencils = stored;
            std::uint64_t passed = 0;
            for_each_in_test_quad([&](std::size_t i) {
                const bool passes_here = passes(compare, test.reference, stored[i]);
                stencils[i] = static_cast<std::uint8_t>(
                    after(passes_here ? test.on_pass : test.on_fail, stored[i], test.reference));
                if (!passes_here) return;
                ++passed;
                colors[i] = 1;
            });
            CHECK(read_texels<float>(device, color) == colors);
            CHECK(read_texels<std::uint8_t>(device, stencil) == stencils);
            CHECK(count.result() == passed);
            pass.stencil.reset();
            draw(device, pass);
            for_each_in_test_quad([&](std::size_t i) { colors[i] = 1; });
            CHECK(read_texels<float>(device, color) == colors);
            CHECK(read_texels<std::uint8_t>(device, stencil) == stencils);
        }
    }
}

TEST_CASE("a stencil test with a depth test compares and writes the given bits, like the CPU emulation") {
    Bench bench;
    auto& device = bench.device;
    const Program program(device, "depth from a texture",
                          "uniform highp sampler2D texture0;\nin vec2 texel;\nvoid main() {\n"
                          "    gl_FragDepth = texelFetch(texture0, ivec2(texel), 0).x;\n}");
    struct Texel {
        float depth;
        std::uint32_t stencil;  // in the low 8 bits; the others are undefined
    };
    Random random(17);
    const DrawnTexture source(device, Format::R32f, test_width, test_height);
    const Texture both(device, Format::Depth32fStencil8, test_width, test_height);
    const Framebuffer target(device, Framebuffer::NoColor{}, both);
    const QuadList quads(device, {test_quad});
    const Query count(device, Query::Kind::Samples);
    Pass pass{.name = "test",
              .program = &program,
              .inputs = {&source.texture},
              .target = &target,
              .color = ColorWrite::Off,
              .quads = &quads,
              .first = 0,
              .count = 1,
              .count_samples = &count};
    const std::size_t texels = std::size_t{test_width} * test_height;
    const std::vector<float> values{0, 0.25F, 0.5F, 1};
    constexpr std::array ops{StencilOp::Keep,      StencilOp::Zero,      StencilOp::Replace,
                             StencilOp::Increment, StencilOp::Decrement, StencilOp::Invert};
    constexpr std::array<std::uint8_t, 4> masks{0xff, 0x3f, 0x80, 0xc1};
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        const auto one_of = [&](const auto& list) { return list[random.index(static_cast<GLuint>(list.size()))]; };
        const StencilTest test{.pass_if = one_of(all_comparisons),
                               .reference = one_of(std::array<std::uint8_t, 4>{1, 2, 0x81, 0xff}),
                               .on_fail = one_of(ops),
                               .on_pass = one_of(ops),
                               .on_depth_fail = one_of(ops),
                               .compared = one_of(masks),
                               .written = one_of(masks)};
        const auto compare = one_of(all_comparisons);
        const auto incoming = few_values(random, texels, values), depths = few_values(random, texels, values);
        const auto stencils = few_values<std::uint8_t>(random, texels, {0, 1, 2, 3, 0x40, 0x81, 0xc1, 0xff});
        std::vector<Texel> stored(texels);
        for (std::size_t i = 0; i < texels; ++i) stored[i] = {depths[i], stencils[i]};
        write_texels(device, source.texture, incoming);
        write_texels(device, both, stored);
        pass.stencil = test;
        pass.depth = DepthTest{.pass_if = compare};
        draw(device, pass);
        std::uint64_t passed = 0;
        for_each_in_test_quad([&](std::size_t i) {
            const int old = stencils[i];
            const bool stencil = passes(test.pass_if, static_cast<float>(test.reference & test.compared),
                                        static_cast<float>(old & test.compared));
            const bool depth = passes(compare, incoming[i], depths[i]);
            passed += stencil && depth;
            const int next = after(!stencil ? test.on_fail
                                   : depth  ? test.on_pass
                                            : test.on_depth_fail,
                                   old, test.reference);
            stored[i].stencil = static_cast<std::uint32_t>((old & ~test.written) | (next & test.written)) & 0xffU;
        });
        CHECK(count.result() == passed);
        const auto found = read_texels<Texel>(device, both);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < texels; ++i)
            wrong += found[i].depth != depths[i] || (found[i].stencil & 0xffU) != stored[i].stencil;
        CHECK(wrong == 0);
    }
}

TEST_CASE("points are drawn where their vertex shader puts them and are added, between passes of quads") {
    Bench bench;
    auto& device = bench.device;
    const Program scatter(device, "scatter", {detail::shaders::bench_scatter_vert, detail::shaders::bench_one_frag}),
        one(device, "one", detail::shaders::bench_one_frag);
    const auto hash = [](std::uint32_t i) {
        i = (i ^ (i >> 16U)) * 0x7feb352dU;
        i = (i ^ (i >> 15U)) * 0x846ca68bU;
        return i ^ (i >> 16U);
    };
    const DrawnTexture target(device, Format::R32f, test_width, test_height);
    const QuadList quads(device, {test_quad});
    const Points points(device);
    fill(device, target.texture, 0.5F);
    std::vector<float> expected(std::size_t{test_width} * test_height, 0.5F);
    for (const std::uint32_t first : {0U, 300U}) {
        const std::uint32_t count = 1000;
        draw(device, {.name = "points",
                      .program = &scatter,
                      .target = &target.framebuffer,
                      .blend = Blend::Add,
                      .points = &points,
                      .first = first,
                      .count = count});
        for (auto i = first; i < first + count; ++i) ++expected[hash(i) % expected.size()];
        CHECK(read_texels<float>(device, target.texture) == expected);
        draw(
            device,
            {.name = "quads", .program = &one, .target = &target.framebuffer, .quads = &quads, .first = 0, .count = 1});
        for_each_in_test_quad([&](std::size_t i) { expected[i] = 1; });
        CHECK(read_texels<float>(device, target.texture) == expected);
    }
}

TEST_CASE("a stencil is cleared even after a pass that was skipped") {
    Bench bench;
    auto& device = bench.device;
    const Program nothing(device, "nothing", "out float value;\nvoid main() { value = 0.0; discard; }");
    const Texture color(device, Format::R32f, test_width, test_height),
        stencil(device, Format::Stencil8, test_width, test_height);
    const Framebuffer target(device, color, &stencil);
    const QuadList quads(device, {test_quad});
    const Query none(device, Query::Kind::Samples);
    Pass pass{.name = "count",
              .program = &nothing,
              .target = &target,
              .quads = &quads,
              .first = 0,
              .count = 1,
              .count_samples = &none};
    write_texels(device, stencil, std::vector<std::uint8_t>(std::size_t{test_width} * test_height, 3));
    draw(device, pass);
    pass.count_samples = nullptr;
    pass.only_if = &none;
    draw(device, pass);
    clear_stencil(device, target, 7);
    CHECK(std::ranges::all_of(read_texels<std::uint8_t>(device, stencil), [](int value) { return value == 7; }));
}
