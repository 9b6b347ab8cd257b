// Compares the radix sort of 64-bit items with std::stable_sort, over the given bits.
#include "cpu/radix.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using quadmill::detail::cpu::radix_sort;
using quadmill::detail::cpu::Workers;

TEST_CASE("Radix sort is stable and looks at the bits from low_bit on") {
    std::mt19937_64 random(1);
    for (const unsigned threads : {1U, 2U, 5U}) {
        Workers workers(threads);
        for (const auto n : std::vector<std::size_t>{0, 1, 2, 24, 25, 1000, 32767, 32768, 100'000}) {
            CAPTURE(n);
            for (const unsigned low : {0U, 17U, 32U, 63U, 64U}) {
                CAPTURE(low);
                for (const int form : {0, 1, 2, 3, 4}) {
                    CAPTURE(form);
                    std::vector<std::uint64_t> items(n);
                    for (std::size_t i = 0; i < n; ++i) {
                        const auto bits = random();
                        items[i] = form == 0   ? bits
                                   : form == 1 ? 42
                                   : form == 2 ? (bits % 10 == 0 ? bits : bits & 0xffffU)  // most in one bucket
                                   : form == 3 ? (bits & 0xff000000000000ffU)
                                               : std::uint64_t{n - i} << 20U;
                    }
                    auto expected = items;
                    std::stable_sort(expected.begin(), expected.end(), [low](std::uint64_t a, std::uint64_t b) {
                        return low < 64 && a >> low < b >> low;
                    });
                    std::vector<std::uint64_t> scratch(n);
                    radix_sort(items, scratch, low, workers);
                    REQUIRE(items == expected);
                }
            }
        }
    }
}
