// Float keys by their bits: the total order, and which of them blending can order.
#pragma once

#include <bit>
#include <cstdint>

#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

template <class Float>
struct KeyBits;

template <>
struct KeyBits<float> {
    using Bits = std::uint32_t;
    static constexpr Bits sign = 0x80000000U, exponent = 0x7f800000U, smallest_normal = 0x00800000U;
    static Bits of(float value) { return std::bit_cast<Bits>(value); }
    static float value(Bits bits) { return std::bit_cast<float>(bits); }
};

template <>
struct KeyBits<Half> {
    using Bits = std::uint16_t;
    static constexpr Bits sign = 0x8000U, exponent = 0x7c00U, smallest_normal = 0x0400U;
    static Bits of(Half value) { return value.bits; }
    static Half value(Bits bits) { return {bits}; }
};

// Bits to an unsigned key whose order is the library's: numbers ascending with -0 below +0, then NaNs. It is the order
// of IEEE 754 totalOrder turned round by the number of negative NaNs, so that these follow the positive ones; a
// bijection. Descending is the same with the sign flipped.
template <class Float>
struct TotalOrder {
    using Keys = KeyBits<Float>;
    using Bits = typename Keys::Bits;
    static constexpr Bits negative_nans = static_cast<Bits>(Keys::sign - Keys::exponent - 1);

    explicit TotalOrder(Order order) : flip(order == Order::Descending ? Keys::sign : Bits{0}) {}
    [[nodiscard]] Bits encode(Bits bits) const {
        const auto v = static_cast<Bits>(bits ^ flip);
        const auto mask = static_cast<Bits>((v & Keys::sign) ? static_cast<Bits>(~Bits{0}) : Keys::sign);
        return static_cast<Bits>((v ^ mask) - negative_nans);
    }
    [[nodiscard]] Bits decode(Bits key) const {
        const auto v = static_cast<Bits>(key + negative_nans);
        const auto mask = static_cast<Bits>((v & Keys::sign) ? Keys::sign : static_cast<Bits>(~Bits{0}));
        return static_cast<Bits>(v ^ mask ^ flip);
    }
    Bits flip;
};

// Whether MIN and MAX blending order the value exactly: normal numbers, +-inf and +0 on every driver. A NaN vanishes, a
// denormal may come out as zero, and -0 may stay before or after +0.
template <class Float>
[[nodiscard]] constexpr bool blendable(typename KeyBits<Float>::Bits bits) {
    using Keys = KeyBits<Float>;
    using Bits = typename Keys::Bits;
    const auto magnitude = static_cast<Bits>(bits & ~Keys::sign);
    return static_cast<Bits>(magnitude - Keys::smallest_normal) <=
               static_cast<Bits>(Keys::exponent - Keys::smallest_normal) ||
           bits == 0;
}

}  // namespace quadmill::detail::sort
