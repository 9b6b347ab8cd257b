// The keys of streams: values of every type as 64-bit unsigned numbers in their order, so that a summary is one type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sort/keys.hpp"

namespace quadmill::detail::stream {

using Key = std::uint64_t;

// Bounds of a rank, or of a count of values; both are possible.
struct Bounds {
    std::uint64_t lower = 0, upper = 0;
    bool operator==(const Bounds&) const = default;
};

// a - b, but no less than 0.
[[nodiscard]] inline std::uint64_t less(std::uint64_t a, std::uint64_t b) {
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

// As the library's total order, but -0 counts as 0.
template <class T>
struct KeyOf {
    using Bits = sort::KeyBits<T>;
    static Key key(T value) {
        auto bits = Bits::of(value);
        if constexpr (sort::is_float<T>) bits = bits == Bits::sign ? typename Bits::Bits{0} : bits;
        return order().encode(bits);
    }
    static T value(Key key) { return Bits::value(order().decode(static_cast<typename Bits::Bits>(key))); }
    static bool is_nan(T value) {
        if constexpr (sort::is_float<T>)
            return (Bits::of(value) & static_cast<typename Bits::Bits>(~Bits::sign)) > Bits::exponent;
        return false;
    }
    static constexpr Key most = std::numeric_limits<typename Bits::Bits>::max();

  private:
    static sort::TotalOrder<T> order() { return sort::TotalOrder<T>(Order::Ascending); }
};

// A sorted window of values, seen as keys.
template <class T>
class Window {
  public:
    explicit Window(const T* values, std::size_t size) : values_(values), size_(size) {}
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Key operator[](std::size_t i) const { return KeyOf<T>::key(values_[i]); }

  private:
    const T* values_;
    std::size_t size_;
};

}  // namespace quadmill::detail::stream
