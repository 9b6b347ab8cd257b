// Layouts and worker threads; no OpenGL.
#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

#include "array/layout.hpp"
#include "array/workers.hpp"

using namespace quadmill::detail::array;  // NOLINT(google-build-using-namespace)

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

TEST_CASE("Blocks lie whole in rows, or in whole rows") {
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

TEST_CASE("Workers do each piece once and keep the order that is asked for") {
    for (const unsigned threads : {1U, 2U, 5U}) {
        Workers workers(threads);
        CHECK(workers.threads() == threads);
        for (const std::size_t count : {0UL, 1UL, 7UL, 1000UL}) {
            std::vector<std::atomic<int>> done(count);
            workers.for_each(count, [&](std::size_t i) { ++done[i]; });
            std::vector<std::size_t> order;
            workers.then_in_order(
                count, [&](std::size_t i) { ++done[i]; },
                [&](std::size_t i) {
                    REQUIRE(done[i] == 2);
                    order.push_back(i);
                });
            std::atomic<std::size_t> released = 0;
            workers.after_in_order(
                count, [&](std::size_t i) { released = i + 1; },
                [&](std::size_t i) { done[i] += i < released ? 1 : 100; });
            std::vector<std::size_t> expected(count);
            std::iota(expected.begin(), expected.end(), std::size_t{0});
            CHECK(order == expected);
            for (const auto& d : done) REQUIRE(d == 3);
        }
    }
}

TEST_CASE("An exception in a worker reaches the caller, and the workers go on living") {
    Workers workers(3);
    const auto fail = [](std::size_t i) {
        if (i == 5) throw std::runtime_error("five");
    };
    const auto nothing = [](std::size_t) {};
    CHECK_THROWS_WITH(workers.for_each(100, fail), "five");
    CHECK_THROWS_WITH(workers.then_in_order(100, nothing, fail), "five");
    CHECK_THROWS_WITH(workers.after_in_order(100, fail, nothing), "five");
    CHECK_THROWS_WITH(workers.after_in_order(100, nothing, fail), "five");
    std::atomic<int> sum = 0;
    workers.for_each(10, [&](std::size_t i) { sum += static_cast<int>(i); });
    CHECK(sum == 45);
}
