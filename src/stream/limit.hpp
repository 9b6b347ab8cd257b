// Exact thresholds of correlated sums, and the keys at or below them. The type of x is known at run time.
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

// The value of a key, rounded.
inline double number_at(KeyType type, Key key) {
    return cpu::visit_key_type(type, [key]<class T>(const T* /*type*/) { return number(KeyOf<T>::value(key)); });
}

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

inline void add_to(ExactSum& sum, KeyType type, Key key, double factor) {
    cpu::visit_key_type(type, [&]<class T>(const T* /*type*/) { add_to(sum, KeyOf<T>::value(key), factor); });
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

inline Limit limit_at(KeyType type, Key key) {
    if (const auto x = number_at(type, key); !std::isfinite(x)) return {.infinite = x};
    Limit limit;
    add_to(limit.sum, type, key, 1);
    return limit;
}

// The sign of limit - x.
inline int sign_above(KeyType type, Key key, const Limit& limit) {
    const auto sign = [](double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; };
    if (const auto x = number_at(type, key); !std::isfinite(x)) return x == limit.infinite ? 0 : sign(-x);
    if (limit.infinite != 0) return sign(limit.infinite);
    auto difference = limit.sum;
    add_to(difference, type, key, -static_cast<double>(limit.divisor));
    return difference.sign();
}

// The largest key whose value is at or below that; nothing if all values are greater.
inline std::optional<Key> key_at_most(KeyType type, const Limit& limit) {
    const auto is_at_most = [&](Key key) { return sign_above(type, key, limit) >= 0; };
    Key low = 0;  // numbers and keys have the same order
    auto high = cpu::visit_key_type(type, []<class T>(const T* /*type*/) { return KeyOf<T>::greatest(); });
    if (!is_at_most(low)) return {};
    while (low < high) {
        const auto middle = low + (high - low) / 2 + 1;
        if (is_at_most(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// The exact sum of x. Infinite values are counted separately.
struct Total {
    ExactSum finite;
    bool rises = false, falls = false;  // whether +inf or -inf was added

    template <class T>
    void add(T x) {
        if (std::isfinite(number(x))) return add_to(finite, x, 1);
        (number(x) > 0 ? rises : falls) = true;
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
        const bool is_float =
            cpu::visit_key_type(from.header().type, []<class T>(const T* /*type*/) { return cpu::is_float<T>; });
        from.require(infinite <= (is_float ? 3 : 0), "the sum of x");
        total.rises = (infinite & 1U) != 0;
        total.falls = (infinite & 2U) != 0;
        return total;
    }
};

}  // namespace quadmill::detail::stream
