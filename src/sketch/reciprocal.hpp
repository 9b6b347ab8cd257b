// Division by a constant as a product.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace quadmill::detail::sketch {

// x / d, exactly for every x of 32 bits, is (t + ((x - t) >> first)) >> then, where t is the high word of x * factor.
// Source: Granlund and Montgomery, 'Division by Invariant Integers using Multiplication', figure 4.1.
struct Reciprocal {
    std::uint32_t factor;
    int first, then;

    // Pre: 1 <= divisor.
    static Reciprocal of(std::uint32_t divisor) {
        const auto log2 = std::bit_width(divisor - 1);
        const auto over = (std::uint64_t{1} << static_cast<unsigned>(log2)) - divisor;
        return {static_cast<std::uint32_t>((over << 32U) / divisor + 1), std::min(static_cast<int>(log2), 1),
                std::max(static_cast<int>(log2) - 1, 0)};
    }
    [[nodiscard]] std::uint32_t quotient(std::uint32_t x) const {
        const auto t = static_cast<std::uint32_t>(std::uint64_t{x} * factor >> 32U);
        return (t + ((x - t) >> static_cast<unsigned>(first))) >> static_cast<unsigned>(then);
    }
};

}  // namespace quadmill::detail::sketch
