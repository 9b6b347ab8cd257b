// Compares draw() and copy() with an emulation on the CPU.
#include "gl/pass.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/pass_bench.hpp"
#include "gl/state_poison.hpp"
#include "gl/texels.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;
using namespace quadmill::detail::gl;
using namespace quadmill::test;

namespace {

using Texel = std::array<float, 4>;
using Texels = std::vector<Texel>;

// The texels' representation in memory: floats, or halves.
template <class Raw>
std::array<Raw, 4> raw(const Texel& texel) {
    std::array<Raw, 4> values{};
    for (std::size_t c = 0; c < 4; ++c) {
        if constexpr (std::is_same_v<Raw, std::uint16_t>) {
            values[c] = Half::from_float(texel[c]).bits;
        } else {
            values[c] = std::bit_cast<Raw>(texel[c]);
        }
    }
    return values;
}

template <class Raw>
std::vector<std::array<Raw, 4>> raw(const Texels& texels) {
    std::vector<std::array<Raw, 4>> values;
    for (const auto& texel : texels) values.push_back(raw<Raw>(texel));
    return values;
}

// Values that a 16-bit float represents exactly and every driver blends exactly: normal numbers of either sign.
Texels random_texels(Random& random, int width, int height) {
    Texels texels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (auto& texel : texels) {
        for (auto& value : texel) {
            value = static_cast<float>(random.number(1, 2000)) * (random.flag() ? 0.25F : -0.25F);
        }
    }
    return texels;
}

struct Image {
    int width, height;
    Texels texels;
    Texel& at(int x, int y) { return texels[static_cast<std::size_t>(y * width + x)]; }
    [[nodiscard]] const Texel& at(int x, int y) const { return texels[static_cast<std::size_t>(y * width + x)]; }
};

// Draws the quads one after the other. Each target texel reads the source texel at its centre.
void emulate(Image& target, const Image& source, std::span<const Quad> quads, Blend blend) {
    for (const auto& quad : quads) {
        const auto& [x0, y0, x1, y1] = quad.target;
        for (int y = static_cast<int>(y0); y < static_cast<int>(y1); ++y) {
            for (int x = static_cast<int>(x0); x < static_cast<int>(x1); ++x) {
                const auto map = [](float at, float from, float to, float a, float b) {
                    return static_cast<int>(std::floor(a + (b - a) * (at + 0.5F - from) / (to - from)));
                };
                const auto& read = source.at(map(static_cast<float>(x), x0, x1, quad.source.x0, quad.source.x1),
                                             map(static_cast<float>(y), y0, y1, quad.source.y0, quad.source.y1));
                auto& written = target.at(x, y);
                for (std::size_t c = 0; c < 4; ++c) {
                    if (blend == Blend::None) written[c] = read[c];
                    if (blend == Blend::Min) written[c] = std::min(read[c], written[c]);
                    if (blend == Blend::Max) written[c] = std::max(read[c], written[c]);
                    if (blend == Blend::Add) written[c] += read[c];
                }
            }
        }
    }
}

// Quads at a distance of `guard` texels from the target's edge, each reading its source forwards or backwards.
std::vector<Quad> random_quads(Random& random, int width, int height, int guard, int count) {
    std::vector<Quad> quads;
    for (int i = 0; i < count; ++i) {
        const int w = random.number(1, width - 2 * guard), h = random.number(1, height - 2 * guard);
        const auto place = [&](int size, int extent, int margin) {
            return static_cast<float>(random.number(margin, extent - margin - size));
        };
        const auto corners = [&](int margin) {
            const float x = place(w, width, margin), y = place(h, height, margin);
            return Quad::Corners{x, y, x + static_cast<float>(w), y + static_cast<float>(h)};
        };
        Quad quad{corners(guard), corners(0)};
        if (random.flag()) std::swap(quad.source.x0, quad.source.x1);
        if (random.flag()) std::swap(quad.source.y0, quad.source.y1);
        quads.push_back(quad);
    }
    return quads;
}

template <class Raw>
void check_drawing(Format format) {
    Bench bench;
    auto& device = bench.device;
    Random random(11);
    constexpr int guard = 2;
    for (const auto& [width, height] : {std::pair{16, 16}, std::pair{33, 7}, std::pair{5, 64}, std::pair{6, 6}}) {
        for (const auto blend : {Blend::None, Blend::Min, Blend::Max, Blend::Add}) {
            if (blend == Blend::Add && format == Format::Rgba16f) continue;  // the sums are not halves
            const int columns = width;
            CAPTURE(columns);
            CAPTURE(static_cast<int>(blend));
            const DrawnTexture source(device, format, width, height), target(device, format, width, height);
            const Image from{width, height, random_texels(random, width, height)};
            Image to{width, height, random_texels(random, width, height)};
            write_texels(device, source.texture, raw<Raw>(from.texels));
            write_texels(device, target.texture, raw<Raw>(to.texels));
            const QuadList quads(device, random_quads(random, width, height, guard, 9));
            // A range of the list: quads before and after it must not be drawn.
            const std::size_t first = 2, count = 5;
            draw(device, {.name = "test",
                          .program = &bench.fetch,
                          .inputs = {&source.texture},
                          .target = &target.framebuffer,
                          .blend = blend,
                          .quads = &quads,
                          .first = first,
                          .count = count});
            emulate(to, from, quads.quads().subspan(first, count), blend);
            CHECK(read_texels<std::array<Raw, 4>>(device, target.texture) == raw<Raw>(to.texels));
            CHECK(read_texels<std::array<Raw, 4>>(device, source.texture) == raw<Raw>(from.texels));
            if (blend != Blend::None) continue;
            // Without colour writes nothing changes, and the next pass writes again.
            draw(device, {.name = "test",
                          .program = &bench.fetch,
                          .inputs = {&source.texture},
                          .target = &target.framebuffer,
                          .color = ColorWrite::Off,
                          .quads = &quads,
                          .first = 0,
                          .count = quads.quads().size()});
            CHECK(read_texels<std::array<Raw, 4>>(device, target.texture) == raw<Raw>(to.texels));
            draw(device, {.name = "test",
                          .program = &bench.fetch,
                          .inputs = {&source.texture},
                          .target = &target.framebuffer,
                          .quads = &quads,
                          .first = 0,
                          .count = 2});
            emulate(to, from, quads.quads().first(2), Blend::None);
            CHECK(read_texels<std::array<Raw, 4>>(device, target.texture) == raw<Raw>(to.texels));
        }
    }
}

}  // namespace

TEST_CASE("draw() writes and blends like the CPU emulation, and changes no texel around it: 32-bit floats") {
    check_drawing<std::uint32_t>(Format::Rgba32f);
}

TEST_CASE("draw() writes and blends like the CPU emulation, and changes no texel around it: 16-bit floats") {
    check_drawing<std::uint16_t>(Format::Rgba16f);
}

TEST_CASE("draw() copies all bits of integers") {
    Bench bench;
    auto& device = bench.device;
    const Program fetch(device, "fetch integers",
                        "uniform highp usampler2D texture0;\nin vec2 texel;\nout uvec4 value;\n"
                        "void main() { value = texelFetch(texture0, ivec2(texel), 0); }");
    Random random(12);
    const DrawnTexture source(device, Format::Rgba32ui, 9, 4), target(device, Format::Rgba32ui, 9, 4);
    std::vector<std::uint32_t> values(std::size_t{9} * 4 * 4);
    for (auto& value : values) value = static_cast<std::uint32_t>(random.bits());
    write_texels(device, source.texture, values);
    const QuadList quads(device, whole(9, 4));
    draw(device, {.name = "test",
                  .program = &fetch,
                  .inputs = {&source.texture},
                  .target = &target.framebuffer,
                  .quads = &quads,
                  .first = 0,
                  .count = 1});
    CHECK(read_texels<std::uint32_t>(device, target.texture) == values);
}

TEST_CASE("draw() sets uniforms of every kind") {
    Bench bench;
    auto& device = bench.device;
    const Program program(device, "uniforms",
                          "uniform int i;\nuniform uint u;\nuniform float f;\nuniform ivec2 v;\nout uvec4 value;\n"
                          "void main() { value = uvec4(uint(i), u, floatBitsToUint(f), uint(v.x * 1000 + v.y)); }");
    const DrawnTexture target(device, Format::Rgba32ui, 3, 2);
    const QuadList quads(device, whole(3, 2));
    draw(device, {.name = "test",
                  .program = &program,
                  .uniforms = {{"i", GLint{-5}}, {"u", GLuint{4'000'000'000U}}, {"f", 1.5F}, {"v", glm::ivec2(7, 8)}},
                  .target = &target.framebuffer,
                  .quads = &quads,
                  .first = 0,
                  .count = 1});
    for (const auto& texel : read_texels<std::array<std::uint32_t, 4>>(device, target.texture)) {
        CHECK(texel == std::array<std::uint32_t, 4>{static_cast<std::uint32_t>(-5), 4'000'000'000U,
                                                    std::bit_cast<std::uint32_t>(1.5F), 7008});
    }
}

TEST_CASE(
    "count_samples counts the fragments that were not discarded, and only_if skips the pass when there were none") {
    Bench bench;
    auto& device = bench.device;
    const Program below(device, "below",
                        "uniform highp sampler2D texture0;\nuniform float limit;\nin vec2 texel;\nout vec4 value;\n"
                        "void main() {\n"
                        "    value = texelFetch(texture0, ivec2(texel), 0);\n"
                        "    if (value.x >= limit) discard;\n"
                        "}");
    Random random(13);
    constexpr int width = 41, height = 23;
    const DrawnTexture source(device, Format::Rgba32f, width, height), target(device, Format::Rgba32f, width, height);
    const Image from{width, height, random_texels(random, width, height)};
    const Texels blank(from.texels.size(), Texel{1, 2, 3, 4});
    write_texels(device, source.texture, raw<std::uint32_t>(from.texels));
    const Query samples(device, Query::Kind::Samples);
    const QuadList all(device, whole(width, height)), part(device, {{{3, 4, 20, 11}, {0, 0, 17, 7}}});
    for (const float limit : {-1000.0F, -499.75F, 0.25F, 17.0F, 1000.0F}) {
        for (const auto color : {ColorWrite::On, ColorWrite::Off}) {
            CAPTURE(limit);
            write_texels(device, target.texture, raw<std::uint32_t>(blank));
            const auto fits = [&](const Texel& texel) { return texel[0] < limit; };
            const auto expected = static_cast<std::uint64_t>(std::ranges::count_if(from.texels, fits));
            Pass pass{.name = "count",
                      .program = &below,
                      .inputs = {&source.texture},
                      .uniforms = {{"limit", limit}},
                      .target = &target.framebuffer,
                      .color = color,
                      .quads = &all,
                      .first = 0,
                      .count = 1,
                      .count_samples = &samples};
            draw(device, pass);
            CHECK(samples.result() == expected);
            auto written = blank;
            for (std::size_t i = 0; i < written.size() && color == ColorWrite::On; ++i) {
                if (fits(from.texels[i])) written[i] = from.texels[i];
            }
            CHECK(read_texels<std::array<std::uint32_t, 4>>(device, target.texture) == raw<std::uint32_t>(written));
            // A pass with that condition, and one without it afterwards.
            write_texels(device, target.texture, raw<std::uint32_t>(blank));
            Image to{width, height, blank};
            const Pass conditional{.name = "conditional",
                                   .program = &bench.fetch,
                                   .inputs = {&source.texture},
                                   .target = &target.framebuffer,
                                   .quads = &all,
                                   .first = 0,
                                   .count = 1,
                                   .only_if = &samples};
            draw(device, conditional);
            end_condition(device);
            if (expected != 0) to.texels = from.texels;
            CHECK(read_texels<std::array<std::uint32_t, 4>>(device, target.texture) == raw<std::uint32_t>(to.texels));
            draw(device, conditional);
            draw(device, {.name = "always",
                          .program = &bench.fetch,
                          .inputs = {&source.texture},
                          .target = &target.framebuffer,
                          .quads = &part,
                          .first = 0,
                          .count = 1});
            emulate(to, from, part.quads(), Blend::None);
            CHECK(read_texels<std::array<std::uint32_t, 4>>(device, target.texture) == raw<std::uint32_t>(to.texels));
        }
    }
}

TEST_CASE("the count of a skipped pass is zero, so conditions can follow each other") {
    Bench bench;
    auto& device = bench.device;
    constexpr int side = 8;
    const DrawnTexture source(device, Format::Rgba32f, side, side), target(device, Format::Rgba32f, side, side);
    write_texels(device, source.texture, std::vector<float>(4 * side * side, 1.0F));
    const Program nothing(device, "nothing", "out vec4 value;\nvoid main() { value = vec4(0.0); discard; }");
    const QuadList quads(device, whole(side, side));
    const std::array<Query, 3> counts{Query(device, Query::Kind::Samples), Query(device, Query::Kind::Samples),
                                      Query(device, Query::Kind::Samples)};
    const auto count = [&](const Program& program, const Query& result, const Query* only_if) {
        draw(device, {.name = "count",
                      .program = &program,
                      .inputs = {&source.texture},
                      .target = &target.framebuffer,
                      .quads = &quads,
                      .first = 0,
                      .count = 1,
                      .count_samples = &result,
                      .only_if = only_if});
    };
    count(bench.fetch, counts[0], nullptr);
    count(bench.fetch, counts[1], counts.data());
    count(bench.fetch, counts[2], &counts[1]);
    end_condition(device);
    for (const auto& query : counts) CHECK(query.result() == side * side);
    count(nothing, counts[0], nullptr);
    count(bench.fetch, counts[1], counts.data());
    count(bench.fetch, counts[2], &counts[1]);
    end_condition(device);
    for (const auto& query : counts) CHECK(query.result() == 0);
}

TEST_CASE("the observer sees each pass with its name, stage, step, target and size") {
    Bench bench;
    auto& device = bench.device;
    struct Seen {
        std::string name;
        int stage, step;
        std::uint32_t target;
        int width, height, targets;
        std::string format;
        PassEvent::Write write;
        int quads;
        std::uint64_t texels;
        bool operator==(const Seen&) const = default;
    };
    struct Recorder final : PassObserver {
        static Seen of(const PassEvent& e) {
            return {std::string(e.name),   e.stage, e.step,  e.target, e.width, e.height, e.targets,
                    std::string(e.format), e.write, e.quads, e.texels};
        }
        void before(const PassEvent& pass) override { begun.push_back(of(pass)); }
        void after(const PassEvent& pass) override {
            ended.push_back(of(pass));
            CHECK(begun.size() == ended.size());
        }
        std::vector<Seen> begun, ended;
    } recorder;
    const DrawnTexture source(device, Format::Rgba32f, 8, 4), target(device, Format::Rgba32f, 8, 4);
    write_texels(device, source.texture, std::vector<float>(128, 1.0F));
    const QuadList quads(device,
                         {{{0, 0, 8, 4}, {0, 0, 8, 4}}, {{1, 1, 3, 2}, {0, 0, 2, 1}}, {{0, 0, 1, 4}, {1, 0, 0, 4}}});
    const auto passes_before = device.passes;
    const auto draw_one = [&] {
        draw(device, {.name = "some pass",
                      .stage = 3,
                      .step = 2,
                      .program = &bench.fetch,
                      .inputs = {&source.texture},
                      .target = &target.framebuffer,
                      .quads = &quads,
                      .first = 1,
                      .count = 2});
    };
    CHECK(bench.host.context.observe(&recorder) == nullptr);
    draw_one();
    copy(device, "a copy", target.texture, source.texture, 5, 6);
    copy(device, "another copy", target.texture, source.texture);
    const Texture layers(device, Format::Rgba32ui, 4, 4, 3);
    const Framebuffer all_layers(device, layers);
    const Points points(device);
    const Program nothing(device, "nothing", {"void main() { gl_Position = vec4(0.0); }", "void main() {}"});
    draw(device, {.name = "points",
                  .program = &nothing,
                  .target = &all_layers,
                  .blend = Blend::Add,
                  .points = &points,
                  .first = 5,
                  .count = 7});
    CHECK(bench.host.context.observe(nullptr) == &recorder);
    draw_one();
    using Write = PassEvent::Write;
    const std::vector<Seen> expected{
        {"some pass", 3, 2, target.texture.id(), 8, 4, 1, "RGBA32F", Write::Replace, 2, 2 + 4},
        {"a copy", 5, 6, source.texture.id(), 8, 4, 1, "RGBA32F", Write::Replace, 0, 32},
        {"another copy", -1, -1, source.texture.id(), 8, 4, 1, "RGBA32F", Write::Replace, 0, 32},
        {"points", -1, -1, layers.id(), 4, 4, 3, "RGBA32UI", Write::Blend, 0, 7}};
    CHECK(recorder.begun == expected);
    CHECK(recorder.ended == expected);
    CHECK(device.passes - passes_before == 5);
}

TEST_CASE("the observer sees the passes of a sort, stage by stage") {
    struct Counter final : PassObserver {
        void before(const PassEvent& pass) override {
            if (pass.name == "min") minima.emplace_back(pass.stage, pass.step);
        }
        std::vector<std::pair<int, int>> minima;
    } counter;
    auto context = Context::headless();
    context.observe(&counter);
    std::vector<float> keys(4 * 8);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(keys.size() - i);
    sort(context, std::span(keys), {.engine = Engine::Pbsn, .paper = {.pbsn = {.early_stop = EarlyStop::No}}});
    std::vector<std::pair<int, int>> expected;
    for (int stage = 1; stage <= 3; ++stage) {
        for (int step = 1; step <= 3; ++step) expected.emplace_back(stage, step);
    }
    CHECK(counter.minima == expected);
}

TEST_CASE("copy() keeps every bit of any float") {
    Bench bench;
    auto& device = bench.device;
    Random random(14);
    constexpr int width = 19, height = 13;
    std::vector<std::uint32_t> bits(std::size_t{4} * width * height);
    for (auto& value : bits) value = static_cast<std::uint32_t>(random.bits());
    // Quiet and signalling NaNs of either sign with payloads, infinities, zeros, denormals.
    const std::array special{0x7fc00000U, 0xffc12345U, 0x7f800001U, 0xff812345U, 0x7f800000U,
                             0xff800000U, 0x80000000U, 0x00000000U, 0x00000001U, 0x807fffffU};
    std::ranges::copy(special, bits.begin());
    const Texture floats(device, Format::Rgba32f, width, height), more(device, Format::Rgba32f, width, height);
    const Texture integers(device, Format::Rgba32ui, width, height), back(device, Format::Rgba32ui, width, height);
    write_texels(device, integers, bits);
    CHECK(read_texels<std::uint32_t>(device, integers) == bits);
    copy(device, "copy", integers, floats);
    copy(device, "copy", floats, more);
    copy(device, "copy", more, back);
    CHECK(read_texels<std::uint32_t>(device, back) == bits);
    CHECK(read_texels<std::uint32_t>(device, more) == bits);  // reading from a float texture does not change them
    write_texels(device, floats, bits);
    copy(device, "copy", floats, back);
    CHECK(read_texels<std::uint32_t>(device, back) == bits);  // nor does writing

    std::vector<std::uint16_t> halves(std::size_t{4} * width * height);
    for (auto& value : halves) value = static_cast<std::uint16_t>(random.bits());
    const Texture half(device, Format::Rgba16f, width, height), half_back(device, Format::Rgba16f, width, height);
    write_texels(device, half, halves);
    copy(device, "copy", half, half_back);
    CHECK(read_texels<std::uint16_t>(device, half_back) == halves);
}

namespace {

struct Value {
    std::uint32_t bits;
    const char* name;
    bool exact;  // whether every driver must order it exactly
};

std::string name_of(std::span<const Value> values, std::uint32_t bits, const char* format) {
    for (const auto& value : values) {
        if (value.bits == bits) return value.name;
    }
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), format, bits);
    return text.data();
}

// Blends every value (the source, down) with every other (the target, across), prints the results, and checks those on
// which all drivers agree. `Raw` holds the bits of one channel.
template <class Raw, class ToFloat>
void blend_table(Format format, const char* hex, const std::vector<Value>& values, ToFloat to_float) {
    Bench bench;
    auto& device = bench.device;
    const int n = static_cast<int>(values.size());
    const DrawnTexture source(device, format, n, n), target(device, format, n, n);
    std::vector<Raw> sources, targets;
    for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
            for (int channel = 0; channel < 4; ++channel) {
                sources.push_back(static_cast<Raw>(values[static_cast<std::size_t>(row)].bits));
                targets.push_back(static_cast<Raw>(values[static_cast<std::size_t>(column)].bits));
            }
        }
    }
    write_texels(device, source.texture, sources);
    const QuadList quads(device, whole(n, n));
    for (const auto blend : {Blend::Min, Blend::Max}) {
        write_texels(device, target.texture, targets);
        draw(device, {.name = "blend",
                      .program = &bench.fetch,
                      .inputs = {&source.texture},
                      .target = &target.framebuffer,
                      .blend = blend,
                      .quads = &quads,
                      .first = 0,
                      .count = 1});
        const auto found = read_texels<Raw>(device, target.texture);
        std::printf("%s blending of %s on %s (down: source, across: target)\n%9s", blend == Blend::Min ? "MIN" : "MAX",
                    info(format).name, device.info.renderer.c_str(), "");
        for (const auto& value : values) std::printf(" %9s", value.name);
        std::printf("\n");
        for (std::size_t row = 0; row < values.size(); ++row) {
            std::printf("%9s", values[row].name);
            for (std::size_t column = 0; column < values.size(); ++column) {
                const auto result = found[4 * (row * values.size() + column)];
                std::printf(" %9s", name_of(values, result, hex).c_str());
                if (!values[row].exact || !values[column].exact) continue;
                const float a = to_float(values[row].bits), b = to_float(values[column].bits);
                CHECK(to_float(result) == (blend == Blend::Min ? std::min(a, b) : std::max(a, b)));
            }
            std::printf("\n");
        }
    }
}

}  // namespace

TEST_CASE("MIN and MAX blending order infinities and normal numbers exactly; the rest is printed") {
    blend_table<std::uint32_t>(Format::Rgba32f, "%08x",
                               {{0xff800000U, "-inf", true},
                                {0xff7fffffU, "-max", true},
                                {0xbf800000U, "-1", true},
                                {0x80800000U, "-min", true},
                                {0x807fffffU, "-denorm", false},
                                {0x80000000U, "-0", false},
                                {0x00000000U, "+0", false},
                                {0x00000001U, "+denorm", false},
                                {0x00800000U, "+min", true},
                                {0x3f800000U, "+1", true},
                                {0x7f7fffffU, "+max", true},
                                {0x7f800000U, "+inf", true},
                                {0x7fc00000U, "nan", false},
                                {0xffc12345U, "-nan", false},
                                {0x7f800001U, "snan", false}},
                               [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
    blend_table<std::uint16_t>(Format::Rgba16f, "%04x",
                               {{0xfc00U, "-inf", true},
                                {0xfbffU, "-max", true},
                                {0xbc00U, "-1", true},
                                {0x8400U, "-min", true},
                                {0x83ffU, "-denorm", false},
                                {0x8000U, "-0", false},
                                {0x0000U, "+0", false},
                                {0x0001U, "+denorm", false},
                                {0x0400U, "+min", true},
                                {0x3c00U, "+1", true},
                                {0x7bffU, "+max", true},
                                {0x7c00U, "+inf", true},
                                {0x7e00U, "nan", false},
                                {0xfe12U, "-nan", false}},
                               [](std::uint32_t bits) { return Half{static_cast<std::uint16_t>(bits)}.value(); });
}
