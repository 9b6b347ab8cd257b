// Keys as bits: the total order, and which keys blending can order.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include "quadmill/keys.hpp"

namespace quadmill::detail::cpu {

template <class Key>
struct KeyBits;

template <class Key, class Unsigned>
struct PlainBits {
    using Bits = Unsigned;
    static constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
    static Bits of(Key value) { return std::bit_cast<Bits>(value); }
    static Key value(Bits bits) { return std::bit_cast<Key>(bits); }
};

template <>
struct KeyBits<float> : PlainBits<float, std::uint32_t> {
    static constexpr Bits exponent = 0x7f800000U, smallest_normal = 0x00800000U;
};

template <>
struct KeyBits<double> : PlainBits<double, std::uint64_t> {
    static constexpr Bits exponent = 0x7ff0000000000000U;
};

template <>
struct KeyBits<Half> {
    using Bits = std::uint16_t;
    static constexpr Bits sign = 0x8000U, exponent = 0x7c00U, smallest_normal = 0x0400U;
    static Bits of(Half value) { return value.bits; }
    static Half value(Bits bits) { return {bits}; }
};

// Narrow integers are only fields of records.
template <>
struct KeyBits<std::uint8_t> : PlainBits<std::uint8_t, std::uint8_t> {};
template <>
struct KeyBits<std::int8_t> : PlainBits<std::int8_t, std::uint8_t> {};
template <>
struct KeyBits<std::uint16_t> : PlainBits<std::uint16_t, std::uint16_t> {};
template <>
struct KeyBits<std::int16_t> : PlainBits<std::int16_t, std::uint16_t> {};
template <>
struct KeyBits<std::uint32_t> : PlainBits<std::uint32_t, std::uint32_t> {};
template <>
struct KeyBits<std::uint64_t> : PlainBits<std::uint64_t, std::uint64_t> {};
template <>
struct KeyBits<std::int32_t> : PlainBits<std::int32_t, std::uint32_t> {};
template <>
struct KeyBits<std::int64_t> : PlainBits<std::int64_t, std::uint64_t> {};

template <class Key>
inline constexpr bool is_float = requires {
    KeyBits<Key>::exponent;
};

// Converts bits to an unsigned key that has the library's order; a bijection. For floats, numbers ascend with -0 below
// +0, then NaNs follow; this is IEEE 754 totalOrder, but with negative NaNs after the positive ones. Descending order
// flips the sign. For integers the order is that of the values; descending order flips all bits.
template <class Key>
struct TotalOrder {
    using Traits = KeyBits<Key>;
    using Bits = typename Traits::Bits;
    static constexpr Bits ones = static_cast<Bits>(~Bits{0});
    static constexpr Bits negative_nans = [] {
        if constexpr (is_float<Key>) {
            return static_cast<Bits>(Traits::sign - Traits::exponent - 1);
        } else {
            return Bits{0};
        }
    }();

    explicit TotalOrder(Order order) {
        const bool down = order == Order::Descending;
        if constexpr (is_float<Key>) {
            flip = down ? Traits::sign : Bits{0};
        } else {
            flip = static_cast<Bits>((down ? ones : Bits{0}) ^ (std::is_signed_v<Key> ? Traits::sign : Bits{0}));
        }
    }
    [[nodiscard]] Bits encode(Bits bits) const {
        const auto v = static_cast<Bits>(bits ^ flip);
        if constexpr (!is_float<Key>) return v;
        const auto mask = static_cast<Bits>((v & Traits::sign) ? ones : Traits::sign);
        return static_cast<Bits>((v ^ mask) - negative_nans);
    }
    [[nodiscard]] Bits decode(Bits key) const {
        if constexpr (!is_float<Key>) return static_cast<Bits>(key ^ flip);
        const auto v = static_cast<Bits>(key + negative_nans);
        const auto mask = static_cast<Bits>((v & Traits::sign) ? Traits::sign : ones);
        return static_cast<Bits>(v ^ mask ^ flip);
    }
    Bits flip;
};

template <class Key>
struct KeyLess {
    TotalOrder<Key> rule;
    bool operator()(const Key& a, const Key& b) const {
        return rule.encode(KeyBits<Key>::of(a)) < rule.encode(KeyBits<Key>::of(b));
    }
};

// Calls `work` with a null pointer to the type.
template <class Work>
decltype(auto) visit_key_type(KeyType type, Work&& work) {
    switch (type) {
        case KeyType::F16:
            return work(static_cast<const Half*>(nullptr));
        case KeyType::F64:
            return work(static_cast<const double*>(nullptr));
        case KeyType::I32:
            return work(static_cast<const std::int32_t*>(nullptr));
        case KeyType::U32:
            return work(static_cast<const std::uint32_t*>(nullptr));
        case KeyType::I64:
            return work(static_cast<const std::int64_t*>(nullptr));
        case KeyType::U64:
            return work(static_cast<const std::uint64_t*>(nullptr));
        case KeyType::F32:
            break;
    }
    return work(static_cast<const float*>(nullptr));
}

// Calls `work` with the keys as a span of their type.
template <class Work>
decltype(auto) visit(Keys keys, Work&& work) {
    return visit_key_type(keys.type(), [&]<class Key>(const Key* /*type*/) -> decltype(auto) {
        return work(std::span(static_cast<Key*>(keys.data()), keys.size()));
    });
}

// Bytes of a key in memory.
[[nodiscard]] inline std::size_t bytes_of(KeyType type) {
    return visit_key_type(type, []<class Key>(const Key* /*type*/) { return sizeof(Key); });
}

// Keys of that type in memory.
[[nodiscard]] inline Keys keys_of(KeyType type, void* data, std::size_t size) {
    return visit_key_type(
        type, [&]<class Key>(const Key* /*type*/) { return Keys(std::span(static_cast<Key*>(data), size)); });
}

// `n` keys beginning with index `first`.
[[nodiscard]] inline Keys part(Keys keys, std::size_t first, std::size_t n) {
    return visit(keys, [&](auto values) { return Keys(values.subspan(first, n)); });
}

// Whether MIN and MAX blending order the value exactly on every driver. They do for normal numbers, +-inf and +0. A NaN
// disappears, a denormal may become zero, and -0 may stay before or after +0.
template <class Float>
[[nodiscard]] constexpr bool blendable(typename KeyBits<Float>::Bits bits) {
    using Traits = KeyBits<Float>;
    using Bits = typename Traits::Bits;
    const auto magnitude = static_cast<Bits>(bits & ~Traits::sign);
    return static_cast<Bits>(magnitude - Traits::smallest_normal) <=
               static_cast<Bits>(Traits::exponent - Traits::smallest_normal) ||
           bits == 0;
}

}  // namespace quadmill::detail::cpu
