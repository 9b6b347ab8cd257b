// Makes keys to sort, reproducibly, of any type and several distributions. Checks the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "quadmill/keys.hpp"

namespace quadmill::detail::cpu {

enum class Distribution {
    Uniform,   // over the type's range; floats over [-1, 1]
    Gauss,     // around the middle of that range
    Zipf,      // ranks 1 .. 2^20; rank r has a probability proportional to 1 / r
    Sorted,    // uniform, in ascending order
    Reversed,  // uniform, in descending order
    Nearly,    // ascending, with one pair exchanged per hundred keys
    Dup,       // 16 different values
    Equal,     // one value
};

// Owns keys of one type.
class KeyBuffer {
  public:
    // Without NaN and -0, so that the library's order is the same as that of `<`.
    KeyBuffer(KeyType type, Distribution distribution, std::size_t n, std::uint64_t seed);
    [[nodiscard]] Keys keys();

  private:
    std::variant<std::vector<Half>, std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                 std::vector<std::uint32_t>, std::vector<std::int64_t>, std::vector<std::uint64_t>>
        values_;
};

// A checksum that does not depend on the order of the keys.
[[nodiscard]] std::uint64_t checksum(Keys keys);
[[nodiscard]] bool in_order(Keys keys);

}  // namespace quadmill::detail::cpu
