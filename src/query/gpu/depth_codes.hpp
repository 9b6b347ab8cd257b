// How the depth engine stores keys as depths, and how it uses the stencil.
//
// Depths hold keys exactly. If key - base fits into the normal floats up to 1, that is the code. Otherwise, if the keys
// fit then, the gaps between a column's keys are left out: floats have a wide gap between 0 and its neighbours, and few
// distinct values become little more than their ranks. Otherwise keys are split into planes of 29 bits, which are
// compared one after the other.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

// Bits of a stencil value: the number of clauses that are true so far, starting from 1, and the state of a comparison
// that takes several tests.
inline constexpr std::uint8_t level_bits = 0x3f, undecided = 0x40, decided = 0x80;

// The codes that a depth can store: normal floats from the smallest to 1.
inline constexpr std::uint32_t first_depth = 0x00800000U, depth_codes = 0x3f800000U - first_depth + 1;
[[nodiscard]] inline float depth_of(std::uint32_t code) {
    return std::bit_cast<float>(code + first_depth);
}
[[nodiscard]] inline std::uint32_t code_of(float depth) {
    return std::bit_cast<std::uint32_t>(depth) - first_depth;
}

// All keys of a column are in such runs. Runs are ascending and not adjacent.
struct KeyRun {
    Key first, last;
};
// A run and the code of its first key.
struct CodedRun {
    KeyRun keys;
    std::uint32_t code;
};

// A column's keys as codes of depths: either `planes` planes of key - base, highest bits first, or one plane of runs.
struct DepthPlanes {
    Key base = 0;
    int width = 0;                // bits of the largest code or of the largest key - base
    int planes = 1, bits = 0;     // number of planes; bits of each
    std::uint32_t null_code = 0;  // greater than all other codes, in the first plane
    std::vector<CodedRun> runs{};

    // The base is `min` with low bits cleared, as long as that takes no more bits: the codes of 1 to 13 are 1 to 13.
    static DepthPlanes of(Key min, Key max);
    // One plane, which leaves out as few gaps as possible, the widest first. Nothing if the keys do not even fit
    // without all gaps.
    static std::optional<DepthPlanes> of_runs(const std::vector<KeyRun>& runs);

    // The planes for some rows of a column. Runs are used if they reduce several planes to one.
    static DepthPlanes of(const ColumnData& column, std::size_t first, std::size_t rows);

    [[nodiscard]] int shift(int plane) const { return bits * (planes - 1 - plane); }
    [[nodiscard]] int plane_of_bit(int bit) const { return planes - 1 - (bits > 0 ? bit / bits : 0); }
    [[nodiscard]] std::uint32_t mask() const { return planes == 1 ? ~std::uint32_t{0} : (1U << bits) - 1; }
    // Code of a key in a plane without runs.
    [[nodiscard]] std::uint32_t code(Key key, int plane) const {
        return static_cast<std::uint32_t>((key - base) >> shift(plane)) & mask();
    }
    // The first and the last code of the column's keys in [low, high], in one plane; nothing if there are none. Pre:
    // low <= high.
    [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> codes(Key low, Key high) const;
    // The key with this code, all planes taken together.
    [[nodiscard]] Key key(Key code) const;
};

}  // namespace quadmill::detail::query
