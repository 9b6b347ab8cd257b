// Networks for registers, by the zero-one principle: a network of comparators that sorts all zeros and ones sorts
// everything.
#include "sort/merge/register_network.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <random>

#include "pass/banked.hpp"
#include "sort/merge/segments.hpp"

using namespace quadmill::detail;        // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::sort;  // NOLINT(google-build-using-namespace)

namespace {

// Bit i is element i.
std::uint64_t apply(const Comparators& network, std::uint64_t bits) {
    for (const auto& [low, high] : network) {
        const auto a = (bits >> static_cast<unsigned>(low)) & 1U, b = (bits >> static_cast<unsigned>(high)) & 1U;
        if (a > b)
            bits ^=
                (std::uint64_t{1} << static_cast<unsigned>(low)) | (std::uint64_t{1} << static_cast<unsigned>(high));
    }
    return bits;
}

// With `ones` ones at the upper end.
std::uint64_t sorted(int n, int ones) {
    return ((std::uint64_t{1} << static_cast<unsigned>(ones)) - 1) << static_cast<unsigned>(n - ones);
}

}  // namespace

TEST_CASE("Batcher's network sorts all zeros and ones of 2 to 16 elements, and has his number of comparators") {
    for (const int n : {2, 4, 8, 16}) {
        const auto network = odd_even_merge_sort(n);
        for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << static_cast<unsigned>(n)); ++bits)
            REQUIRE(apply(network, bits) == sorted(n, std::popcount(bits)));
    }
    // (p p - p + 4) 2^(p - 2) - 1 for n = 2^p.
    CHECK(odd_even_merge_sort(8).size() == 19);
    CHECK(odd_even_merge_sort(16).size() == 63);
    CHECK(odd_even_merge_sort(32).size() == 191);
}

TEST_CASE("For 32 elements, it sorts each half like the network of 16, then any two sorted halves") {
    const auto network = odd_even_merge_sort(32);
    std::mt19937_64 random(1);
    for (int i = 0; i < 200'000; ++i) {
        const auto bits = random() & 0xffffffffU;
        REQUIRE(apply(network, bits) == sorted(32, std::popcount(bits)));
    }
    for (int a = 0; a <= 16; ++a) {
        for (int b = 0; b <= 16; ++b)
            REQUIRE(apply(network, sorted(16, a) | sorted(16, b) << 16U) == sorted(32, a + b));
    }
}

TEST_CASE("The bitonic merge sorts every bitonic sequence of zeros and ones, rotated by any amount") {
    for (const int n : {8, 16, 32}) {
        const auto network = bitonic_merge(n);
        const auto all = sorted(n, n);
        for (int ones = 0; ones <= n; ++ones) {
            for (int turn = 0; turn < n; ++turn) {
                const auto run = sorted(n, ones);
                const auto bits =
                    ((run << static_cast<unsigned>(turn)) | (run >> static_cast<unsigned>(n - turn))) & all;
                REQUIRE(apply(network, bits) == run);
            }
        }
    }
}

TEST_CASE("The lower half of two sorted runs, one reversed, rotated alike, has the lowest keys") {
    // Does what merge_runs.frag does, on zeros and ones of 32 registers, for all cuts modulo 32.
    const int n = 32;
    const auto network = bitonic_merge(n);
    for (int zeros_a = 0; zeros_a <= n; ++zeros_a) {
        for (int zeros_b = 0; zeros_b <= n; ++zeros_b) {
            for (int turn = 0; turn < n; ++turn) {
                std::uint64_t a = 0, b = 0, min = 0;
                for (int k = 0; k < n; ++k) {
                    if (k >= zeros_a) a |= std::uint64_t{1} << static_cast<unsigned>((turn + k) % n);
                    if (k >= zeros_b) b |= std::uint64_t{1} << static_cast<unsigned>((2 * n - turn + k) % n);
                }
                for (int r = 0; r < n; ++r) {
                    const auto x = (a >> static_cast<unsigned>(r)) & 1U,
                               y = (b >> static_cast<unsigned>(n - 1 - r)) & 1U;
                    min |= (x & y) << static_cast<unsigned>(r);
                }
                REQUIRE(apply(network, min) == sorted(n, n - std::min(n, zeros_a + zeros_b)));
            }
        }
    }
}

TEST_CASE("A network is printed as a macro") {
    CHECK(as_macro("SORT", bitonic_merge(2)) == "#define SORT(v) EXCHANGE(v[0], v[1])\n");
}

TEST_CASE("Each pair of blocks has its own texel; 32 consecutive ones form a tile of 8 x 4") {
    for (const std::size_t pairs : {1UL, 31UL, 33UL, 1000UL, 5000UL}) {
        const auto shape = pass::Banked::of_pairs(pairs, pairs % 2 == 0 ? 4 : 8);
        REQUIRE(shape.pairs() >= pairs);
        std::vector<char> taken(shape.pairs());
        const auto width = static_cast<std::size_t>(shape.width());
        for (std::size_t pair = 0; pair < shape.pairs(); ++pair) {
            const auto texel = shape.texel_of_pair(pair);
            REQUIRE(texel < taken.size());
            REQUIRE(!taken[texel]++);
            const auto corner = shape.texel_of_pair(pair / 32 * 32);
            REQUIRE(texel % width - corner % width < 8);
            REQUIRE(texel / width - corner / width < 4);
        }
    }
}

TEST_CASE("Segments begin at pairs, and every position is a key or padding") {
    Segments segments(64);
    segments.add(0, 100);
    segments.add(100, 0);
    segments.add(100, 64);
    segments.add(164, 1);
    CHECK(segments.pairs() == 4);
    CHECK(segments.longest_pairs() == 2);
    for (std::size_t first = 0; first < 400; first += 13) {
        for (const std::size_t count : {1UL, 64UL, 200UL}) {
            std::vector<int> seen(count, -2);
            segments.for_each_piece(first, count, [&](auto place, auto key, auto size, auto padding) {
                for (std::size_t i = 0; i < size + padding; ++i)
                    seen.at(place - first + i) = i < size ? static_cast<int>(key + i) : -1;
            });
            for (std::size_t i = 0; i < count; ++i) {
                const auto p = first + i;
                const auto expected = p < 100               ? static_cast<int>(p)
                                      : p >= 128 && p < 192 ? static_cast<int>(p - 28)
                                      : p == 192            ? 164
                                                            : -1;
                REQUIRE(seen[i] == expected);
            }
        }
    }
}
