// Cutting keys into textures.
#include "sort/pbsn/chunks.hpp"

#include <doctest/doctest.h>

using namespace quadmill;                // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::sort;  // NOLINT(google-build-using-namespace)

TEST_CASE("Chunks cover the keys, fit their textures, and waste no more than a third") {
    for (const std::size_t max_texels : {std::size_t{1}, std::size_t{64}, std::size_t{1} << 14, std::size_t{1} << 24}) {
        for (const std::size_t max_run :
             {std::size_t{1}, std::size_t{1} << 10, std::size_t{1} << 18, std::size_t{1} << 30}) {
            for (const std::size_t n : {0UL, 1UL, 4UL, 5UL, 255UL, 256UL, 257UL, 65'536UL, 65'537UL, 100'000UL,
                                        262'144UL, 262'145UL, 10'000'000UL}) {
                if (n / max_texels > 1'000'000) continue;
                std::size_t next = 0;
                for (const auto& chunk : cut(n, max_texels, max_run)) {
                    const auto run = std::size_t{1} << unsigned(chunk.k);
                    REQUIRE(chunk.begin == next);
                    REQUIRE(chunk.size >= 1);
                    REQUIRE(chunk.size <= 4 * chunk.shape.texels());
                    REQUIRE(chunk.shape.texels() % run == 0);
                    REQUIRE(chunk.shape.texels() <= max_texels);
                    REQUIRE(run <= max_run);
                    if (chunk.shape.texels() > (1UL << 14)) REQUIRE(3 * chunk.shape.texels() < chunk.size);
                    next += chunk.size;
                }
                REQUIRE(next == n);
            }
        }
    }
    for (const int k : {16, 18, 20}) {
        const auto chunks = cut(std::size_t{4} << unsigned(k), std::size_t{1} << 24, std::size_t{1} << 18);
        REQUIRE(chunks.size() == 1);
        CHECK(chunks[0].k == std::min(k, 18));
    }
}

TEST_CASE("Chunks of windows hold whole windows") {
    for (const std::size_t window : {1UL, 2UL, 3UL, 100UL, 128UL, 1000UL}) {
        for (const std::size_t n : {0UL, 1UL, 99UL, 100UL, 101UL, 12'345UL}) {
            std::size_t next = 0;
            const auto chunks = cut_windows(n, window, 1024, Channels::Windows);
            for (const auto& chunk : chunks) {
                REQUIRE(chunk.begin == next);
                next += chunk.size;
                if (next < n) REQUIRE(chunk.size % window == 0);
                const auto windows = (chunk.size + window - 1) / window;
                REQUIRE((((windows + 3) / 4) << unsigned(chunk.k)) <= chunk.shape.texels());
                REQUIRE((std::size_t{1} << unsigned(chunk.k)) >= window);
                REQUIRE(chunk.shape.texels() <= 2 * 1024);
                const auto block = std::size_t{1} << unsigned(chunk.k), width = std::size_t(chunk.shape.width);
                if (block > width) REQUIRE(std::size_t(chunk.shape.height) % (block / width) == 0);
            }
            REQUIRE(next == n);
        }
    }
}

TEST_CASE("Split windows take a quarter of the elements in each channel") {
    for (const std::size_t window : {1UL, 3UL, 4UL, 5UL, 4096UL}) {
        for (const std::size_t n : {0UL, 1UL, 4096UL, 12'345UL}) {
            std::size_t next = 0;
            for (const auto& chunk : cut_windows(n, window, 1024, Channels::Split)) {
                REQUIRE(chunk.begin == next);
                next += chunk.size;
                if (next < n) REQUIRE(chunk.size % window == 0);
                REQUIRE((std::size_t{4} << unsigned(chunk.k)) >= window);
                REQUIRE((((chunk.size + window - 1) / window) << unsigned(chunk.k)) <= chunk.shape.texels());
                REQUIRE(chunk.shape.texels() <= 2 * 1024);
            }
            REQUIRE(next == n);
        }
    }
}
