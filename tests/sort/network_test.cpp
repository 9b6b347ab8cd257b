// The network of PBSN and its quads without OpenGL: by the zero-one principle, and by reading the quads like a
// rasterizer.
#include "sort/pbsn/network.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <map>

#include "pass/layout.hpp"
#include "rasterize.hpp"
#include "sort/pbsn/quads.hpp"

using namespace quadmill::detail;        // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::sort;  // NOLINT(google-build-using-namespace)
using quadmill::test::rasterize;
using quadmill::test::TexelMap;

namespace {

std::uint32_t apply(const NetworkStep& step, std::uint32_t zeros_and_ones, std::size_t n) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto other = partner(step, i);
        const bool a = (zeros_and_ones >> i) & 1U, b = (zeros_and_ones >> other.index) & 1U;
        if (other.keeps_min ? a && b : a || b) result |= 1U << i;
    }
    return result;
}

}  // namespace

TEST_CASE("PBSN sorts every sequence of zeros and ones up to 16 elements") {
    for (int k = 0; k <= 4; ++k) {
        const std::size_t n = std::size_t{1} << static_cast<unsigned>(k);
        std::uint32_t failures = 0;
        for (std::uint32_t input = 0; input < (std::uint64_t{1} << n); ++input) {
            auto v = input;
            for (const auto& step : pbsn_network(k)) v = apply(step, v, n);
            const auto ones = static_cast<unsigned>(std::popcount(input));
            const auto sorted = static_cast<std::uint32_t>(((std::uint64_t{1} << ones) - 1) << (n - ones));
            failures += v != sorted;
        }
        CHECK(failures == 0);
    }
}

TEST_CASE("If a stage changes nothing, everything is in order") {
    const auto stage = pbsn_stage(4, 1);
    for (std::uint32_t input = 0; input < (1U << 16U); ++input) {
        auto v = input;
        for (const auto& step : stage) v = apply(step, v, 16);
        const auto ones = static_cast<unsigned>(std::popcount(input));
        const bool sorted = input == ((1U << ones) - 1) << (16 - ones);
        REQUIRE((v == input) == sorted);
    }
}

TEST_CASE("PBSN has k stages of k steps") {
    for (int k = 0; k <= 24; ++k) {
        const auto steps = pbsn_network(k);
        REQUIRE(steps.size() == static_cast<std::size_t>(k * k));
        for (std::size_t i = 0; i < steps.size(); ++i) {
            CHECK(steps[i].stage == static_cast<int>(i) / k + 1);
            CHECK(steps[i].log2_block == k - static_cast<int>(i) % k);
        }
    }
}

TEST_CASE("Routine 4.4: the quads of every step draw each texel once and read its partner") {
    struct Shape {
        int width, height, k;
    };
    std::vector<Shape> shapes;
    for (int k = 1; k <= 9; ++k) {
        const auto shape = pass::FourArray::of_power(k);
        for (int window = 1; window <= k; ++window) shapes.push_back({shape.width, shape.height, window});
    }
    shapes.insert(shapes.end(), {{1, 16, 4}, {16, 1, 4}, {4, 64, 6}, {64, 4, 8}, {8, 3, 3}, {8, 6, 4}});
    for (const auto& shape : shapes) {
        for (const auto& step : pbsn_stage(shape.k, 1)) {
            const auto quads = sort_step(shape.width, shape.height, std::size_t{1} << unsigned(step.log2_block));
            TexelMap min, max;
            for (const auto& quad : quads.min) rasterize(quad, min);
            for (const auto& quad : quads.max) rasterize(quad, max);
            REQUIRE(min.size() + max.size() == static_cast<std::size_t>(shape.width * shape.height));
            for (int i = 0; i < shape.width * shape.height; ++i) {
                const auto expected = partner(step, static_cast<std::size_t>(i));
                const std::pair here{i % shape.width, i / shape.width};
                const auto& map = expected.keeps_min ? min : max;
                const auto found = map.find(here);
                REQUIRE(found != map.end());
                const auto j = static_cast<std::size_t>(found->second.second * shape.width + found->second.first);
                REQUIRE(j == expected.index);
            }
        }
    }
}

TEST_CASE("Routine 4.2 has the corners that the paper prints") {
    const auto quad = compute_min(8, 16, 4);
    CHECK(quad == gl::Quad{{0, 8, 16, 10}, {16, 12, 0, 10}});
    CHECK(compute_max(8, 16, 4) == gl::Quad{{0, 10, 16, 12}, {16, 10, 0, 8}});
    CHECK(compute_row_min(8, 4, 32) == gl::Quad{{8, 0, 10, 32}, {12, 0, 10, 32}});
    CHECK(compute_row_max(8, 4, 32) == gl::Quad{{10, 0, 12, 32}, {10, 0, 8, 32}});
    CHECK(copy_quad(4, 8) == gl::Quad{{0, 0, 4, 8}, {0, 0, 4, 8}});
}

TEST_CASE("Quads over all steps: the known counts") {
    const std::map<int, std::size_t> known{{12, 3024}, {14, 7112}, {16, 16320}, {18, 36792}};
    for (const auto& [k, expected] : known) {
        const auto shape = pass::FourArray::of_power(k);
        std::size_t quads = 0;
        for (const auto& step : pbsn_network(k)) {
            const auto of_step = sort_step(shape.width, shape.height, std::size_t{1} << unsigned(step.log2_block));
            quads += of_step.min.size() + of_step.max.size();
        }
        CHECK(quads == expected);
    }
}

TEST_CASE("The quads that detect disorder pair each element with the next one of its window") {
    for (const auto& [width, height, k] :
         {std::array{4, 4, 4}, std::array{4, 4, 2}, std::array{8, 8, 5}, std::array{8, 8, 3}, std::array{8, 6, 4},
          std::array{1, 4, 2}, std::array{4, 1, 2}, std::array{2, 2, 0}}) {
        TexelMap map;
        const std::size_t window = std::size_t{1} << unsigned(k);
        for (const auto& quad : next_element_quads(width, height, window)) rasterize(quad, map);
        for (int i = 0; i < width * height; ++i) {
            const auto found = map.find({i % width, i / width});
            const bool last = (static_cast<std::size_t>(i) + 1) % window == 0;
            REQUIRE((found == map.end()) == last);
            if (!last) REQUIRE(found->second == std::pair{(i + 1) % width, (i + 1) / width});
        }
    }
}
