// Sums of doubles and of their products without rounding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stream/bytes.hpp"

namespace quadmill::detail::stream {

// A fixed-point number that is wide enough for 2^60 products of two doubles. Takes finite doubles only.
// Source: Kulisch's long accumulator.
class ExactSum {
  public:
    ExactSum() = default;
    explicit ExactSum(double value) { add(value); }

    void add(double value) { add(value, 1); }
    void add(double a, double b);
    void add(const ExactSum& other, double factor = 1);
    // -1, 0 or 1.
    [[nodiscard]] int sign() const;
    // The double nearest to sum / divisor, ties to even. Infinite if it is too large for a double. Pre: 1 <= divisor <
    // 2^63.
    [[nodiscard]] double nearest(std::uint64_t divisor = 1) const;
    // The largest double at or below the sum, and the smallest at or above it.
    [[nodiscard]] double below() const;
    [[nodiscard]] double above() const;

    void write(Writer& to) const;
    static ExactSum read(Reader& from);

  private:
    __extension__ using Wide = unsigned __int128;
    // Digit i counts 2^(32 i - lowest). Digits may have either sign, and are normalized before they overflow.
    static constexpr std::size_t digits = 138;
    static constexpr int lowest = 2176;
    using Digits = std::array<std::int64_t, digits>;
    struct Magnitude {
        Digits digits{};  // after carry(): from 0 to 2^32 - 1
        bool negative = false;
    };
    void add_bits(Wide bits, int exponent, bool negative);
    static void carry(Digits& digits);
    [[nodiscard]] Magnitude magnitude() const;

    Digits digits_{};
    std::uint32_t adds_ = 0;  // since the last carry()
};

}  // namespace quadmill::detail::stream
