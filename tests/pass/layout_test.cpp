// Layouts, without OpenGL.
#include "pass/layout.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>

using namespace quadmill::detail::pass;  // NOLINT(google-build-using-namespace)

TEST_CASE("FourArray has the width and height of routine 4.3") {
    for (int k = 0; k <= 26; ++k) {
        const auto shape = FourArray::of_power(k);
        CHECK(shape.width == (1 << (k / 2)));
        CHECK(shape.height == (1 << ((k + 1) / 2)));
        CHECK(shape.texels() == (std::size_t{1} << unsigned(k)));
    }
    CHECK(log2_ceil(0) == 0);
    CHECK(log2_ceil(1) == 0);
    CHECK(log2_ceil(2) == 1);
    CHECK(log2_ceil(3) == 2);
    CHECK(log2_ceil(1024) == 10);
    CHECK(log2_ceil(1025) == 11);
}

TEST_CASE("Blocks are within rows, or consist of whole rows") {
    for (int k = 0; k <= 10; ++k) {
        for (const std::size_t blocks : {1UL, 2UL, 3UL, 5UL, 100UL}) {
            const auto shape = FourArray::of_blocks(k, blocks);
            const auto block = std::size_t{1} << unsigned(k), width = static_cast<std::size_t>(shape.width);
            CHECK(shape.texels() >= block * blocks);
            CHECK(shape.texels() < block * blocks + width);
            if (block > width) CHECK(static_cast<std::size_t>(shape.height) % (block / width) == 0);
        }
    }
}
