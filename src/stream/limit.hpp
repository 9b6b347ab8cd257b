// Exact thresholds of correlated sums, and the keys at or below them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "stream/bytes.hpp"
#include "stream/exact_sum.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::stream {

// sum += x * factor, for a finite x.
template <class T>
void add_to(ExactSum& sum, T x, double factor) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {  // in two parts, each of which fits into a double
        constexpr auto low = T{0xffffffff};
        sum.add(static_cast<double>(x & ~low), factor);
        sum.add(static_cast<double>(x & low), factor);
    } else {
        sum.add(number(x), factor);
    }
}

// An exact number, sum / divisor, or an infinite one.
struct Limit {
    ExactSum sum{};
    std::uint64_t divisor = 1;
    double infinite = 0;

    [[nodiscard]] double nearest() const { return infinite != 0 ? infinite : sum.nearest(divisor); }
};

inline Limit limit_of(double v) {
    return std::isfinite(v) ? Limit{ExactSum(v)} : Limit{.infinite = v};
}

template <class T>
Limit limit_at(Key key) {
    const auto x = KeyOf<T>::value(key);
    Limit limit;
    if constexpr (cpu::is_float<T>) {
        if (!std::isfinite(number(x))) return {.infinite = number(x)};
    }
    add_to(limit.sum, x, 1);
    return limit;
}

template <class T>
bool is_at_most(Key key, const Limit& limit) {
    const auto x = KeyOf<T>::value(key);
    if constexpr (cpu::is_float<T>) {
        if (!std::isfinite(number(x))) return number(x) < 0 || number(x) <= limit.infinite;
    }
    if (limit.infinite != 0) return limit.infinite > 0;
    auto difference = limit.sum;
    add_to(difference, x, -static_cast<double>(limit.divisor));
    return difference.sign() >= 0;
}

// The largest key whose value is at or below that; nothing if all values are greater.
template <class T>
std::optional<Key> key_at_most(const Limit& limit) {
    Key low = 0, high = KeyOf<T>::greatest();  // numbers and keys have the same order
    if (!is_at_most<T>(low, limit)) return {};
    while (low < high) {
        const auto middle = low + (high - low) / 2 + 1;
        if (is_at_most<T>(middle, limit)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// Whether a value of x's type equals it exactly. `key` is the largest key at or below it.
template <class T>
std::optional<T> exact_at(const std::optional<Key>& key, const Limit& limit) {
    if (!key) return {};
    const auto x = KeyOf<T>::value(*key);
    if constexpr (cpu::is_float<T>) {
        if (!std::isfinite(number(x)) || limit.infinite != 0)
            return number(x) == limit.infinite ? std::optional(x) : std::nullopt;
    }
    if (limit.infinite != 0) return {};
    auto difference = limit.sum;
    add_to(difference, x, -static_cast<double>(limit.divisor));
    return difference.sign() == 0 ? std::optional(x) : std::nullopt;
}

// The exact sum of x. Infinite values are counted separately.
template <class T>
struct Total {
    ExactSum finite;
    bool rises = false, falls = false;  // whether +inf or -inf was added

    void add(T x) {
        if constexpr (cpu::is_float<T>) {
            if (!std::isfinite(number(x))) {
                (number(x) > 0 ? rises : falls) = true;
                return;
            }
        }
        add_to(finite, x, 1);
    }
    void merge(const Total& other) {
        finite.add(other.finite);
        rises = rises || other.rises;
        falls = falls || other.falls;
    }
    // The sum divided by n.
    [[nodiscard]] Limit mean(std::uint64_t n) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (rises && falls) return {.infinite = std::numeric_limits<double>::quiet_NaN()};
        if (rises || falls) return {.infinite = rises ? infinity : -infinity};
        return {finite, n, 0};
    }
    void write(Writer& to) const {
        finite.write(to);
        to.u64((rises ? 1 : 0) | (falls ? 2 : 0));
    }
    static Total read(Reader& from) {
        Total total{ExactSum::read(from)};
        const auto infinite = from.u64();
        from.require(infinite <= (cpu::is_float<T> ? 3 : 0), "the sum of x");
        total.rises = (infinite & 1U) != 0;
        total.falls = (infinite & 2U) != 0;
        return total;
    }
};

}  // namespace quadmill::detail::stream
