// Types for summaries of streams: keys, ranks, and windows of sorted values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "cpu/ordered_key.hpp"
#include "cpu/rank.hpp"
#include "quadmill/stream.hpp"
#include "stream/values.hpp"

namespace quadmill::detail::stream {

using cpu::Key, cpu::KeyOf, cpu::rank_of, cpu::saturating_sub;

// Bounds of a rank or of a count of values, both inclusive.
struct Bounds {
    std::uint64_t lower = 0, upper = 0;
    bool operator==(const Bounds&) const = default;
};

template <class T>
[[nodiscard]] double number(T value) {
    if constexpr (std::is_same_v<T, Half>) {
        return static_cast<double>(value.value());
    } else {
        return static_cast<double>(value);
    }
}

// How the bits of a value are read as a key. They are in the low bits of a number.
struct KeyRule {
    KeyType type{};
    std::size_t width{};           // bytes of a value in memory
    Key sign, ones;                // the highest bit, and all bits
    Key if_negative, if_positive;  // masks of the bits, by their sign
    Key minus;                     // is then subtracted
    Key minus_zero, zero;          // the bits of -0, which counts as 0, and their key
    Key max_magnitude;             // of a number; greater ones are NaNs
    // Numbers of 64 bits may stand for values of 32 bits, in their order (see wide_rule_of). This is then the rule of
    // the values.
    const KeyRule* narrow = nullptr;

    // The total order, in which -0 is below 0. Bits has the width of a value, or 64 bits.
    template <class Bits>
    [[nodiscard]] constexpr Bits order(Bits bits) const {
        const auto low = [](Key mask) { return static_cast<Bits>(mask); };
        const auto flipped = static_cast<Bits>(bits ^ ((bits & low(sign)) != 0 ? low(if_negative) : low(if_positive)));
        const auto key = static_cast<Bits>(flipped - low(minus));
        return sizeof(Bits) < sizeof(Key) ? key : key & low(ones);
    }
    template <class Bits>
    [[nodiscard]] Key key(Bits bits) const {
        return bits == minus_zero ? zero : order(bits);
    }
    [[nodiscard]] Key bits(Key key) const {
        const auto bits = (key + minus) & ones;
        return bits ^ ((bits & sign) != 0 ? if_positive : if_negative);
    }
    [[nodiscard]] bool is_nan(Key bits) const { return (bits & ~sign) > max_magnitude; }
    [[nodiscard]] bool has_nans() const { return max_magnitude != ones; }
    // The bits of a value as they are saved, and their bytes.
    [[nodiscard]] Key raw(Key bits) const { return narrow ? narrow->bits(bits) : bits; }
    [[nodiscard]] std::size_t raw_bytes() const { return narrow ? narrow->width : width; }
    [[nodiscard]] unsigned raw_bits() const { return static_cast<unsigned>(8 * raw_bytes()); }
    [[nodiscard]] Key of_raw(Key raw) const {
        if (!narrow) return raw;
        return narrow->is_nan(raw) ? ~sign : narrow->order(raw);
    }
    // The values as a sorter takes them.
    [[nodiscard]] Keys keys(void* values, std::size_t size) const {
        if (narrow) return std::span(static_cast<std::uint64_t*>(values), size);
        return cpu::keys_of(type, values, size);
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
constexpr KeyRule make_rule() {
    using Traits = cpu::KeyBits<T>;
    constexpr Key sign = Key{1} << (8 * sizeof(T) - 1), ones = sign | (sign - 1);
    if constexpr (cpu::is_float<T>) {
        constexpr Key minus = sign - Traits::exponent - 1;
        return {type_of<T>(), sizeof(T), sign, ones, ones, sign, minus, sign, sign - minus, Traits::exponent};
    } else {
        constexpr Key flip = std::is_signed_v<T> ? sign : 0;
        return {type_of<T>(), sizeof(T), sign, ones, flip, flip, 0, 0, flip, ones};
    }
}
template <class T>
inline constexpr KeyRule rule_of = make_rule<T>();

// The rule of values of any type as numbers of 64 bits: of their bits or, for 32 bits, of their order. With it, code
// for one width serves all types.
template <class T>
constexpr KeyRule make_wide_rule() {
    constexpr const auto& narrow = rule_of<T>;
    if constexpr (sizeof(T) == sizeof(Key)) return narrow;
    constexpr Key sign = Key{1} << 63U, ones = ~Key{0}, max = cpu::is_float<T> ? narrow.ones : ones;
    return {narrow.type, sizeof(Key), sign, ones, 0, 0, 0, narrow.order(narrow.minus_zero), narrow.zero, max, &narrow};
}
template <class T>
inline constexpr KeyRule wide_rule_of = make_wide_rule<T>();

template <class Bits>
struct RuleLess {
    KeyRule rule;
    bool operator()(const Bits& a, const Bits& b) const { return rule.order(bits_at(&a)) < rule.order(bits_at(&b)); }
};

// The first index in [from, to) for which `below` is false, or `to`. It is true for all earlier ones.
template <class Index>
[[nodiscard]] Index first_not(Index from, Index to, const auto& below) {
    while (from < to) {
        const auto middle = from + (to - from) / 2;
        if (below(middle)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}
// The same, for an index that is near `from`.
[[nodiscard]] std::size_t gallop(std::size_t from, std::size_t to, const auto& below) {
    std::size_t reach = 1;
    for (; from + reach <= to && below(from + reach - 1); reach *= 2) from += reach;
    return first_not(from, std::min(from + reach - 1, to), below);
}

// A sorted window of values, seen as keys.
class Window {
  public:
    Window(const Values& values, const KeyRule& rule) : values_(values), rule_(rule) {}
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] Key key(std::size_t i) const { return rule_.key(values_[i]); }
    [[nodiscard]] Key operator[](std::size_t i) const { return key(i); }
    [[nodiscard]] const Values& values() const { return values_; }
    // Calls `work` with a function that gives the key at an index, compiled for the width.
    decltype(auto) with_keys(const auto& work) const {
        return with_width(rule_.width, [&]<class Bits>(Bits /*width*/) {
            return work(
                [rule = rule_, from = values_.as<Bits>()](std::size_t i) { return rule.key(bits_at(from + i)); });
        });
    }

  private:
    Values values_;
    KeyRule rule_;
};

template <class T>
[[nodiscard]] Window window_of(const std::vector<T>& sorted) {
    return {std::span(sorted), rule_of<T>};
}

// Consecutive windows of `window` values each; the last one may be shorter.
class Windows {
  public:
    Windows(const Values& values, std::size_t window, const KeyRule& rule)
        : values_(values), window_(window), rule_(rule) {}
    [[nodiscard]] std::size_t size() const { return (values_.size() + window_ - 1) / window_; }
    [[nodiscard]] Window operator[](std::size_t i) const {
        const auto begin = i * window_;
        return {values_.subspan(begin, std::min(window_, values_.size() - begin)), rule_};
    }

  private:
    Values values_;
    std::size_t window_;
    const KeyRule& rule_;
};

}  // namespace quadmill::detail::stream
