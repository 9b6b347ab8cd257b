// GPUTeraSort's Routine 4.1 and its quads, without OpenGL: compared with the network as the paper describes it, and by
// the zero-one principle.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "rasterize.hpp"
#include "sort/bitonic/network.hpp"
#include "sort/bitonic/quads.hpp"

using namespace quadmill;                // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::sort;  // NOLINT(google-build-using-namespace)
using test::rasterize;
using test::TexelMap;

namespace {

constexpr std::array both{Representation::SingleArray, Representation::FourArray};

std::size_t element_at(const BitonicShape& shape, std::size_t texel, std::size_t channel) {
    return shape.representation == Representation::SingleArray ? 4 * texel + channel : channel * shape.texels() + texel;
}

// Section 4.1: whether an element keeps the larger key in step j of a stage, in a window of 2^k.
bool keeps_larger(std::size_t element, int stage, int j, int k) {
    const bool second = (element >> (j - 1) & 1U) != 0;
    const bool descending = stage < k && (element >> stage & 1U) != 0;
    return second != descending;
}

int log2_of_channel_step(const BitonicShape& shape, int channel_bit) {
    return shape.representation == Representation::SingleArray ? channel_bit : shape.texel_k + channel_bit;
}

// Steps (stage, j) in the order in which a pass makes them.
std::vector<std::pair<int, int>> steps_of(const BitonicShape& shape, const BitonicPass& pass) {
    std::vector<std::pair<int, int>> steps;
    const int below = shape.representation == Representation::SingleArray ? 2 : 0;
    for (int r = pass.steps - 1; r >= 0; --r) steps.emplace_back(pass.stage, pass.low + r + below + 1);
    if (pass.pairs) steps.emplace_back(log2_of_channel_step(shape, 0) + 1, log2_of_channel_step(shape, 0) + 1);
    if (pass.fours) {
        steps.emplace_back(pass.stage, log2_of_channel_step(shape, 1) + 1);
        steps.emplace_back(pass.stage, log2_of_channel_step(shape, 0) + 1);
    }
    return steps;
}

// Shapes of one window and of several: square, oblong, and not a power of two.
std::vector<BitonicShape> shapes() {
    std::vector<BitonicShape> all;
    for (const auto representation : both) {
        for (std::size_t window = 4; window <= 2048; window *= 2)
            all.push_back(BitonicShape::of(representation, 1, window));
        for (const auto& [windows, window] : {std::pair{2, 8}, std::pair{3, 64}, std::pair{5, 4}, std::pair{7, 128}})
            all.push_back(BitonicShape::of(representation, std::size_t(windows), std::size_t(window)));
    }
    return all;
}

// The partner of each texel and its code, as bitonic_step.frag reads them.
struct Meeting {
    std::size_t partner;
    int code;
};
std::vector<Meeting> meetings(const BitonicShape& shape, const BitonicPass& pass, int block) {
    const auto drawn = bitonic_quads(shape, pass, block);
    TexelMap map;
    for (const auto& quad : drawn.quads) rasterize(quad, map);
    REQUIRE(map.size() == shape.texels());
    std::vector<Meeting> all(shape.texels());
    for (const auto& [here, texel] : map) {
        int code = texel.first >> shape.width_log2;
        code ^= (here.first >> pass.low) & drawn.columns;
        if ((here.second & drawn.turn_row) != 0) code = ~code;
        const int x = (texel.first & (shape.width() - 1)) ^ ((drawn.columns + 1) >> 1) << pass.low;
        all.at(std::size_t(here.second * shape.width() + here.first)) = {std::size_t(texel.second * shape.width() + x),
                                                                         code};
    }
    return all;
}

// An element's values in 64 simultaneous sorts, one bit each.
using Lanes = std::uint64_t;
using Texels = std::vector<std::array<Lanes, 4>>;

Lanes kept(Lanes a, Lanes b, bool larger) {
    return larger ? a | b : a & b;
}

// bitonic_step.frag on zeros and ones.
Texels run_pass(const BitonicPass& pass, const std::vector<Meeting>& meet, const Texels& before) {
    auto after = before;
    const auto count = std::size_t{1} << unsigned(pass.steps);
    for (std::size_t t = 0; t < before.size(); ++t) {
        std::vector<std::array<Lanes, 4>> v(count);
        for (std::size_t k = 0; k < count; ++k) {
            const auto bits = (k & (count / 2 - 1)) << unsigned(pass.low);
            v[k] = before[pass.steps == 0 ? t : (k < count / 2 ? t : meet[t].partner) ^ bits];
        }
        for (int r = pass.steps - 1; r >= 0; --r) {
            const auto half = std::size_t{1} << unsigned(r);
            for (std::size_t k = 0; k < half; ++k) {
                for (int c = 0; c < 4; ++c) {
                    const bool larger = ((meet[t].code >> r & 1) != 0) != ((c & pass.turn_channel) != 0);
                    v[k].at(std::size_t(c)) = kept(v[k].at(std::size_t(c)), v[k + half].at(std::size_t(c)), larger);
                }
            }
        }
        auto& own = after[t];
        own = v[0];
        const auto exchange = [&own](std::size_t distance, std::array<bool, 4> larger) {
            const auto was = own;
            for (std::size_t c = 0; c < 4; ++c) own.at(c) = kept(was.at(c), was.at(c ^ distance), larger.at(c));
        };
        const bool turned = (meet[t].code >> pass.steps & 1) != 0;
        if (pass.pairs) exchange(1, {false, true, true, false});
        if (pass.fours) exchange(2, {turned, turned, !turned, !turned});
        if (pass.fours) exchange(1, {turned, !turned, turned, !turned});
    }
    return after;
}

}  // namespace

TEST_CASE("Routine 4.1: stages 1 to k of steps i to 1, however many steps a pass makes") {
    for (const auto& shape : shapes()) {
        std::vector<std::pair<int, int>> routine;
        for (int i = 1; i <= shape.k; ++i) {
            for (int j = i; j >= 1; --j) routine.emplace_back(i, j);
        }
        REQUIRE(routine.size() == std::size_t(shape.k * (shape.k + 1) / 2));
        for (const int steps_per_pass : {1, 2, 3}) {
            std::vector<std::pair<int, int>> made;
            for (const auto& pass : bitonic_passes(shape, steps_per_pass)) {
                const auto steps = steps_of(shape, pass);
                REQUIRE(steps.back() == std::pair{pass.stage, pass.step});
                REQUIRE(pass.steps <= steps_per_pass);
                made.insert(made.end(), steps.begin(), steps.end());
            }
            REQUIRE(made == routine);
        }
    }
}

TEST_CASE("The number of passes is as in docs/engines.md") {
    for (int k = 2; k <= 24; ++k) {
        const auto window = std::size_t{1} << unsigned(k);
        for (const int s : {1, 2, 3}) {
            const auto groups = [s](int steps) { return std::size_t((steps + s - 1) / s); };
            std::size_t of_texels = 0;  // stages of 1 to k - 2 steps on texels
            for (int steps = 1; steps <= k - 2; ++steps) of_texels += groups(steps);
            const auto single = bitonic_passes(BitonicShape::of(Representation::SingleArray, 1, window), s).size();
            const auto four = bitonic_passes(BitonicShape::of(Representation::FourArray, 1, window), s).size();
            const auto windows = bitonic_passes(BitonicShape::of(Representation::FourArray, 4, window), s).size();
            CHECK(single == 1 + of_texels + (s == 1 ? std::size_t(k) - 2 : 0));
            CHECK(four == of_texels + 2 + 2 * groups(k - 2));
            CHECK(windows == of_texels + groups(k - 1) + groups(k));
            if (s > 1) continue;
            CHECK(single == std::size_t(k * (k - 1) / 2));
            CHECK(four == std::size_t(k * (k + 1) / 2 - 1));
            CHECK(windows == std::size_t(k * (k + 1) / 2));
        }
    }
}

TEST_CASE("The quads of every pass draw each texel once, read the partner and tell what to keep") {
    for (const auto& shape : shapes()) {
        for (const auto& [steps_per_pass, block] :
             {std::pair{1, 0}, std::pair{1, 2}, std::pair{1, 8}, std::pair{2, 0}, std::pair{2, 4}, std::pair{3, 0},
              std::pair{3, 8}, std::pair{3, 1024}}) {
            for (const auto& pass : bitonic_passes(shape, steps_per_pass)) {
                const auto all = meetings(shape, pass, block);
                for (std::size_t t = 0; t < all.size(); ++t) {
                    if (pass.steps > 0)
                        REQUIRE(all[t].partner == (t ^ std::size_t{1} << unsigned(pass.low + pass.steps - 1)));
                    for (std::size_t c = 0; c < 4; ++c) {
                        const auto element = element_at(shape, t, c);
                        for (int r = 0; r < pass.steps; ++r) {
                            const int j = steps_of(shape, pass).at(std::size_t(pass.steps - 1 - r)).second;
                            const bool larger =
                                ((all[t].code >> r & 1) != 0) != ((c & unsigned(pass.turn_channel)) != 0);
                            REQUIRE(larger == keeps_larger(element, pass.stage, j, shape.k));
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("The passes sort every sequence of 16 zeros and ones, and random ones in windows") {
    for (const auto representation : both) {
        for (const std::size_t windows : {1U, 3U}) {
            const auto shape = BitonicShape::of(representation, windows, 16);
            for (const auto& [steps_per_pass, block] :
                 {std::pair{1, 0}, std::pair{1, 2}, std::pair{2, 2}, std::pair{3, 0}}) {
                const auto passes = bitonic_passes(shape, steps_per_pass);
                std::vector<std::vector<Meeting>> meet;
                meet.reserve(passes.size());
                for (const auto& pass : passes) meet.push_back(meetings(shape, pass, block));
                std::uint32_t failures = 0;
                for (std::uint32_t input = 0; input < (1U << 16U); input += 64) {
                    // Element i of window w in lane l is bit i of a number that takes the value of every input in turn
                    // for each w.
                    const auto number = [&](std::size_t w, std::uint32_t l) {
                        return (input + l) ^ (0x9e37U * unsigned(w) & 0xffffU);
                    };
                    Texels texels(shape.texels());
                    for (std::size_t t = 0; t < texels.size(); ++t) {
                        for (std::size_t c = 0; c < 4; ++c) {
                            const auto e = element_at(shape, t, c);
                            for (std::uint32_t l = 0; l < 64; ++l)
                                texels[t].at(c) |= Lanes{number(e / 16, l) >> (e % 16) & 1U} << l;
                        }
                    }
                    for (std::size_t i = 0; i < passes.size(); ++i) texels = run_pass(passes[i], meet[i], texels);
                    for (std::size_t t = 0; t < texels.size(); ++t) {
                        for (std::size_t c = 0; c < 4; ++c) {
                            const auto e = element_at(shape, t, c);
                            for (std::uint32_t l = 0; l < 64; ++l) {
                                const auto ones = std::size_t(std::popcount(number(e / 16, l)));
                                failures += (texels[t].at(c) >> l & 1U) != Lanes{e % 16 >= 16 - ones};
                            }
                        }
                    }
                }
                CHECK(failures == 0);
            }
        }
    }
}

TEST_CASE("Section 4.4: low quads are cut to the block's width and drawn block after block, high ones are unchanged") {
    const auto shape = BitonicShape::of(Representation::SingleArray, 1, 4096);  // 32 x 32 texels
    REQUIRE(std::tuple(shape.width(), shape.height) == std::tuple(32, 32));
    const auto quads = [&](int low, int block) {
        return bitonic_quads(shape, {.stage = 12, .step = low + 3, .steps = 1, .low = low}, block).quads;
    };
    const auto same = [](const auto& a, const auto& b) { return a == b; };
    CHECK(quads(0, 0).size() == 32);  // columns one texel wide
    CHECK(quads(6, 0).size() == 16);  // rows two texels high
    CHECK(quads(6, 0)[1] == detail::gl::Quad{{0, 2, 32, 4}, {32, 0, 64, 2}});
    CHECK(same(quads(3, 8), quads(3, 0)));  // as wide as the block: case 1
    CHECK(same(quads(8, 8), quads(8, 0)));  // as high
    for (const int low : {0, 1, 2, 5, 6, 7}) {
        const auto of_blocks = quads(low, 8);
        const auto each = of_blocks.size() / 16;  // blocks of 8 x 8
        for (std::size_t i = 0; i < of_blocks.size(); ++i) {
            const auto left = float(i / each % 4 * 8), top = float(i / each / 4 * 8);
            const auto& to = of_blocks[i].target;
            CHECK((to.x0 >= left && to.x1 <= left + 8 && to.y0 >= top && to.y1 <= top + 8));
            CHECK((low < 5 ? to.y1 - to.y0 : to.x1 - to.x0) == 8);
            const auto from = of_blocks[i].source.x0 >= 32 ? of_blocks[i].source.x0 - 32 : of_blocks[i].source.x0;
            CHECK((from >= left && from < left + 8 && of_blocks[i].source.y0 >= top &&
                   of_blocks[i].source.y1 <= top + 8));
        }
    }
}
