// Types for summaries of streams: keys, ranks, and windows of sorted values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "cpu/ordered_key.hpp"
#include "cpu/rank.hpp"

namespace quadmill::detail::stream {

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

// A sorted window of values, seen as keys.
template <class T>
class Window {
  public:
    explicit Window(const T* values, std::size_t size) : values_(values), size_(size) {}
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Key operator[](std::size_t i) const { return KeyOf<T>::key(values_[i]); }
    [[nodiscard]] std::span<const T> values() const { return {values_, size_}; }

  private:
    const T* values_;
    std::size_t size_;
};

// Consecutive windows of `window` values each; the last one may be shorter.
template <class T>
class Windows {
  public:
    Windows(std::span<const T> values, std::size_t window) : values_(values), window_(window) {}
    [[nodiscard]] std::size_t size() const { return (values_.size() + window_ - 1) / window_; }
    [[nodiscard]] Window<T> operator[](std::size_t i) const {
        const auto begin = i * window_;
        return Window<T>(values_.data() + begin, std::min(window_, values_.size() - begin));
    }

  private:
    std::span<const T> values_;
    std::size_t window_;
};

}  // namespace quadmill::detail::stream
