// Ranks, counted from 1.
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

}  // namespace quadmill::detail::cpu
