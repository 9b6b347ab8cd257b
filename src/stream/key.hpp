// Types for summaries of streams: keys, ranks, and windows of sorted values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "cpu/ordered_key.hpp"
#include "cpu/rank.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::detail::stream {

// Whether one copy of a loop serves all cases, which is slower, and windows of tails are sorted.
#ifdef QUADMILL_FOR_SIZE
inline constexpr bool for_size = true;
#else
inline constexpr bool for_size = false;
#endif

using cpu::Key;
using cpu::KeyOf;
using cpu::rank_of;

// Bounds of a rank or of a count of values, both inclusive.
struct Bounds {
    std::uint64_t lower = 0, upper = 0;
    bool operator==(const Bounds&) const = default;
};

// The difference a - b, or 0 if it is negative: std::sub_sat of C++26.
[[nodiscard]] inline std::uint64_t saturating_sub(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b : 0;
}

template <class T>
[[nodiscard]] double number(T value) {
    if constexpr (std::is_same_v<T, Half>) {
        return static_cast<double>(value.value());
    } else {
        return static_cast<double>(value);
    }
}

// How the bits of a value are read as a key. The type is known at run time, so that the code of this room is compiled
// for each width of values instead of each type. The memory of values may be written as any type, so it is read by
// bits_at().
template <class Bits>
struct KeyRule {
    static constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

    KeyType type{};
    Bits if_negative, if_positive;  // masks of the bits, by their sign
    Bits minus;                     // is then subtracted
    Bits minus_zero, zero;          // the bits of -0, which counts as 0, and their key
    Bits max_magnitude;             // of a number; greater ones are NaNs
    Bits greatest;                  // the largest key of a number
    // Numbers of 64 bits may stand for values of 32 bits, in their order (see wide_rule_of). This is then the rule of
    // the values.
    const KeyRule<std::uint32_t>* narrow = nullptr;

    // The total order, in which -0 is below 0.
    [[nodiscard]] constexpr Bits order(Bits bits) const {
        return static_cast<Bits>(static_cast<Bits>(bits ^ ((bits & sign) != 0 ? if_negative : if_positive)) - minus);
    }
    [[nodiscard]] Key key(Bits bits) const { return bits == minus_zero ? zero : order(bits); }
    [[nodiscard]] Bits bits(Key key) const {
        const auto bits = static_cast<Bits>(static_cast<Bits>(key) + minus);
        return static_cast<Bits>(bits ^ ((bits & sign) != 0 ? if_positive : if_negative));
    }
    [[nodiscard]] bool is_nan(Bits bits) const { return static_cast<Bits>(bits & ~sign) > max_magnitude; }
    // The bits of a value as they are saved, and their bytes.
    [[nodiscard]] Bits raw(Bits bits) const { return narrow ? static_cast<Bits>(narrow->bits(bits)) : bits; }
    [[nodiscard]] std::size_t raw_bytes() const { return narrow ? sizeof(std::uint32_t) : sizeof(Bits); }
    [[nodiscard]] Bits of_raw(Bits raw) const {
        if (!narrow) return raw;
        const auto value = static_cast<std::uint32_t>(raw);
        return narrow->is_nan(value) ? static_cast<Bits>(~sign) : static_cast<Bits>(narrow->order(value));
    }
    [[nodiscard]] Keys keys(std::span<Bits> values) const {
        if constexpr (sizeof(Bits) == sizeof(std::uint64_t)) {
            if (narrow) return values;
        }
        return cpu::visit_key_type(type, [&]<class T>(const T* /*type*/) {
            return Keys(std::span(reinterpret_cast<T*>(values.data()), values.size()));
        });
    }
};

template <class T>
constexpr KeyType type_of() {
    if constexpr (std::is_same_v<T, Half>) return KeyType::F16;
    if constexpr (std::is_same_v<T, float>) return KeyType::F32;
    if constexpr (std::is_same_v<T, double>) return KeyType::F64;
    if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? KeyType::I32 : KeyType::U32;
    return std::is_signed_v<T> ? KeyType::I64 : KeyType::U64;
}

template <class T>
constexpr KeyRule<BitsOf<T>> make_rule() {
    using Traits = cpu::KeyBits<T>;
    using Bits = BitsOf<T>;
    constexpr auto ones = static_cast<Bits>(~Bits{0});
    constexpr auto sign = KeyRule<Bits>::sign;
    if constexpr (cpu::is_float<T>) {
        constexpr auto minus = static_cast<Bits>(sign - Traits::exponent - 1);
        return {type_of<T>(),
                ones,
                sign,
                minus,
                sign,
                static_cast<Bits>(sign - minus),
                Traits::exponent,
                static_cast<Bits>(static_cast<Bits>(Traits::exponent ^ sign) - minus)};
    } else {
        constexpr auto flip = static_cast<Bits>(std::is_signed_v<T> ? sign : Bits{0});
        return {type_of<T>(), flip, flip, 0, 0, flip, ones, ones};
    }
}
template <class T>
inline constexpr KeyRule<BitsOf<T>> rule_of = make_rule<T>();

// The rule of values of any type as numbers of 64 bits: of their bits or, for 32 bits, of their order. With it, code
// for one width serves all types.
template <class T>
constexpr KeyRule<std::uint64_t> make_wide_rule() {
    constexpr const auto& narrow = rule_of<T>;
    if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
        return narrow;
    } else {
        constexpr auto ones = ~std::uint64_t{0};
        return {narrow.type,
                0,
                0,
                0,
                narrow.order(narrow.minus_zero),
                narrow.zero,
                cpu::is_float<T> ? std::uint64_t{std::numeric_limits<std::uint32_t>::max()} : ones,
                narrow.greatest,
                &narrow};
    }
}
template <class T>
inline constexpr KeyRule<std::uint64_t> wide_rule_of = make_wide_rule<T>();

template <class Bits>
[[nodiscard]] Bits bits_at(const Bits* value) {
    Bits bits{};
    std::memcpy(&bits, value, sizeof bits);
    return bits;
}

// Values of a caller, which are only read by bits_at().
template <class T>
[[nodiscard]] std::span<const BitsOf<T>> as_bits(std::span<const T> values) {
    return {reinterpret_cast<const BitsOf<T>*>(values.data()), values.size()};
}

// The order of a sorter.
template <class Bits>
struct RuleLess {
    KeyRule<Bits> rule;
    bool operator()(const Bits& a, const Bits& b) const { return rule.order(bits_at(&a)) < rule.order(bits_at(&b)); }
};

// A sorted window of values, seen as keys.
template <class Bits>
class Window {
  public:
    Window(const Bits* values, std::size_t size, const KeyRule<Bits>& rule)
        : values_(values), size_(size), rule_(rule) {}
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Key key(std::size_t i) const { return rule_.key(bits_at(values_ + i)); }
    [[nodiscard]] Key operator[](std::size_t i) const { return key(i); }
    [[nodiscard]] std::span<const Bits> values() const { return {values_, size_}; }

  private:
    const Bits* values_;
    std::size_t size_;
    KeyRule<Bits> rule_;
};

template <class T>
[[nodiscard]] Window<BitsOf<T>> window_of(const std::vector<T>& sorted) {
    const auto bits = as_bits(std::span(sorted));
    return {bits.data(), bits.size(), rule_of<T>};
}

// Consecutive windows of `window` values each; the last one may be shorter.
template <class Bits>
class Windows {
  public:
    Windows(std::span<const Bits> values, std::size_t window, const KeyRule<Bits>& rule)
        : values_(values), window_(window), rule_(rule) {}
    [[nodiscard]] std::size_t size() const { return (values_.size() + window_ - 1) / window_; }
    [[nodiscard]] Window<Bits> operator[](std::size_t i) const {
        const auto begin = i * window_;
        return {values_.data() + begin, std::min(window_, values_.size() - begin), rule_};
    }

  private:
    std::span<const Bits> values_;
    std::size_t window_;
    const KeyRule<Bits>& rule_;
};

}  // namespace quadmill::detail::stream
