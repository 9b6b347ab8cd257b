// Values of every type as 64-bit unsigned numbers with the same order, so that code for values is compiled once.
#pragma once

#include <cstdint>
#include <limits>

#include "cpu/keys.hpp"

namespace quadmill::detail::cpu {

using Key = std::uint64_t;

// The library's total order, except that -0 counts as 0.
template <class T>
struct KeyOf {
    using Bits = KeyBits<T>;
    static Key key(T value) {
        auto bits = Bits::of(value);
        if constexpr (is_float<T>) bits = bits == Bits::sign ? typename Bits::Bits{0} : bits;
        return order().encode(bits);
    }
    static T value(Key key) { return Bits::value(order().decode(static_cast<typename Bits::Bits>(key))); }
    static bool is_nan(T value) {
        if constexpr (is_float<T>)
            return (Bits::of(value) & static_cast<typename Bits::Bits>(~Bits::sign)) > Bits::exponent;
        return false;
    }
    static constexpr Key max = std::numeric_limits<typename Bits::Bits>::max();
    // The largest key of a value other than NaN; NaNs come last.
    static Key greatest() {
        if constexpr (is_float<T>) return key(Bits::value(Bits::exponent));
        return max;
    }

  private:
    static TotalOrder<T> order() { return TotalOrder<T>(Order::Ascending); }
};

}  // namespace quadmill::detail::cpu
