// The keys of streams: values of every type as 64-bit unsigned numbers in their order, so that a summary is one type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "sort/keys.hpp"

namespace quadmill::detail::stream {

using Key = std::uint64_t;

// As the library's total order, but -0 counts as 0. NaNs come last, from nan_from() on.
template <class T>
struct KeyOf {
    using Bits = sort::KeyBits<T>;
    static Key key(T value) {
        auto bits = Bits::of(value);
        if constexpr (sort::is_float<T>) bits = bits == Bits::sign ? typename Bits::Bits{0} : bits;
        return order().encode(bits);
    }
    static T value(Key key) { return Bits::value(order().decode(static_cast<typename Bits::Bits>(key))); }
    // NaNs, which come after all numbers; integers have none.
    static bool is_nan(Key key) {
        if constexpr (sort::is_float<T>) return key > order().encode(Bits::exponent);
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
    // Without the NaNs, which come last.
    [[nodiscard]] Window numbers() const {
        std::size_t first = 0, last = size_;
        while (first < last) {
            const auto middle = first + (last - first) / 2;
            if (KeyOf<T>::is_nan((*this)[middle])) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        return Window(values_, first);
    }

  private:
    const T* values_;
    std::size_t size_;
};

}  // namespace quadmill::detail::stream
