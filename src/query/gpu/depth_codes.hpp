// How the depth engine holds keys as depths and what it counts in the stencil.
//
// Depths hold keys exactly: key - least, if that fits into the normal floats up to 1, and else in planes of 29 bits,
// compared one after the other.
#pragma once

#include <bit>
#include <cstdint>

#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

// A stencil: the number of clauses that hold, from 1, and what a comparison in several tests knows so far.
inline constexpr std::uint8_t level_bits = 0x3f, undecided = 0x40, decided = 0x80;

// Codes that a depth can be: normal floats from the smallest to 1.
inline constexpr std::uint32_t first_depth = 0x00800000U, depth_codes = 0x3f800000U - first_depth + 1;
[[nodiscard]] inline float depth_of(std::uint32_t code) {
    return std::bit_cast<float>(code + first_depth);
}
[[nodiscard]] inline std::uint32_t code_of(float depth) {
    return std::bit_cast<std::uint32_t>(depth) - first_depth;
}

// A column's keys as codes of depths: so many planes, the highest bits first, of key - base.
struct DepthPlanes {
    Key base = 0;
    int width = 0;                // bits of the largest key - base
    int planes = 1, bits = 0;     // of each plane
    std::uint32_t null_code = 0;  // greater than all others, in the first plane

    static DepthPlanes of(Key least, Key most);
    [[nodiscard]] int shift(int plane) const { return bits * (planes - 1 - plane); }
    [[nodiscard]] int plane_of_bit(int bit) const { return planes - 1 - (bits > 0 ? bit / bits : 0); }
    [[nodiscard]] std::uint32_t mask() const { return planes == 1 ? ~std::uint32_t{0} : (1U << bits) - 1; }
    [[nodiscard]] std::uint32_t code(Key key, int plane) const {
        return static_cast<std::uint32_t>((key - base) >> shift(plane)) & mask();
    }
};

}  // namespace quadmill::detail::query
