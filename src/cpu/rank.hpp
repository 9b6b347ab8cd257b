// Ranks, counted from 1, and differences of counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace quadmill::detail::cpu {

// ceil(phi n), but at least 1. A product that is an integer except for rounding counts as that integer.
inline std::uint64_t rank_of(double phi, std::uint64_t n) {
    const double rank = phi * static_cast<double>(n), whole = std::nearbyint(rank);
    const double up = std::abs(rank - whole) <= rank * 0x1p-50 ? whole : std::ceil(rank);
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(up), 1, n);
}

// The difference a - b, or 0 if it is negative: std::sub_sat of C++26.
[[nodiscard]] inline std::uint64_t saturating_sub(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b : 0;
}

}  // namespace quadmill::detail::cpu
