// Compares numbers of different types as real numbers, without rounding; and sorted lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quadmill::detail::query {

// Sorts the list and drops duplicates.
template <class T>
void sort_unique(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

// The sign of a - b.
template <class T>
[[nodiscard]] int compare(T a, T b) {
    return a < b ? -1 : a > b ? 1 : 0;
}

// For integers in [-end, end). Pre: a is not NaN.
template <class Integer>
[[nodiscard]] int order_below(double end, double a, Integer b) {
    if (a >= end) return 1;
    if (a < -end) return -1;
    const auto whole = static_cast<Integer>(a);  // towards 0
    return whole != b ? compare(whole, b) : compare(a, static_cast<double>(whole));
}

// Pre: a is not NaN.
[[nodiscard]] inline int compare(double a, std::int64_t b) {
    return order_below(0x1p63, a, b);
}

[[nodiscard]] inline int compare(std::int64_t a, double b) {
    return -compare(b, a);
}

// Above this, doubles skip integers.
constexpr std::int64_t exact_doubles = std::int64_t{1} << 53U;

}  // namespace quadmill::detail::query
