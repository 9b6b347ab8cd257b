// Tests for every engine that sorts keys of any type, bit by bit against std::stable_sort: types, orders,
// distributions, sizes, windows, indices.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "data.hpp"
#include "kernels.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::test {

// The order that sort.hpp specifies, independent of src/cpu/keys.hpp: integers by value, floats as in data.hpp, and
// doubles in the same way.
template <class Key>
bool before(Key a, Key b, Order order) {
    if constexpr (std::is_integral_v<Key>) {
        return order == Order::Ascending ? a < b : b < a;
    } else if constexpr (std::is_same_v<Key, double>) {
        const bool down = order == Order::Descending;
        const auto rank = [down](double value) {
            const bool minus = std::signbit(value) != down, nan = std::isnan(value);
            const auto payload = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(value) & ~(1ULL << 63U));
            return std::tuple(nan, nan ? 0.0 : (down ? -value : value), nan ? minus : !minus,
                              nan ? (minus ? -payload : payload) : 0);
        };
        return rank(a) < rank(b);
    } else {
        return rank(a, order) < rank(b, order);
    }
}

// Random bits of few or many different values, or a distribution of data.hpp.
template <class Key>
std::vector<Key> keys_of(const std::string& distribution, std::size_t n, std::uint64_t seed) {
    if constexpr (std::is_same_v<Key, float> || std::is_same_v<Key, Half>) {
        return make<Key>(distribution, n, seed);
    } else {
        std::mt19937_64 random(seed);
        constexpr auto lowest = std::numeric_limits<Key>::lowest(), max = std::numeric_limits<Key>::max();
        std::vector<Key> special{0, 1, lowest, max, static_cast<Key>(max - 1), static_cast<Key>(-1)};
        if constexpr (std::is_same_v<Key, double>) {
            const auto nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
            special.insert(special.end(), {-0.0, inf, -inf, nan, -nan, std::bit_cast<double>(0x7ff0000000000001ULL),
                                           5e-324, -5e-324, std::bit_cast<double>(0xfff00000ffffffffULL)});
        }
        std::vector<Key> keys(n);
        for (auto& key : keys) {
            const auto bits = random();
            if (distribution == "few" || distribution == "specials" || distribution == "zeros") {
                key = special[bits % special.size()];
            } else if (distribution == "equal") {
                key = special[1];
            } else if constexpr (sizeof(Key) == 8) {
                key = std::bit_cast<Key>(distribution == "uniform" ? bits >> 20U : bits);
            } else {
                key = std::bit_cast<Key>(static_cast<std::uint32_t>(distribution == "uniform" ? bits & 0xffffU : bits));
            }
        }
        const auto less = [](Key a, Key b) { return before(a, b, Order::Ascending); };
        if (distribution == "sorted" || distribution == "nearly") std::stable_sort(keys.begin(), keys.end(), less);
        if (distribution == "reversed") std::stable_sort(keys.rbegin(), keys.rend(), less);
        for (std::size_t i = 0; distribution == "nearly" && i + 9 < n; i += 7)
            std::swap(keys[i], keys[i + random() % 9]);
        return keys;
    }
}

template <class Key>
bool same_bits(const std::vector<Key>& a, const std::vector<Key>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Key)) == 0);
}

inline constexpr std::size_t whole = std::numeric_limits<std::size_t>::max() / 2;

// The source index of each key after std::stable_sort of each window.
template <class Key>
std::vector<std::uint32_t> stable_places(const std::vector<Key>& keys, std::size_t window, Order order) {
    std::vector<std::uint32_t> places(keys.size());
    std::iota(places.begin(), places.end(), 0U);
    for (std::size_t begin = 0; begin < keys.size(); begin += window) {
        const auto at = places.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto size = std::min(window, keys.size() - begin);
        std::stable_sort(at, at + static_cast<std::ptrdiff_t>(size),
                         [&](std::uint32_t a, std::uint32_t b) { return before(keys[a], keys[b], order); });
    }
    return places;
}

template <class Key>
std::vector<Key> keys_at(const std::vector<Key>& keys, const std::vector<std::uint32_t>& places) {
    std::vector<Key> found;
    for (const auto place : places) found.push_back(keys[place]);
    return found;
}

// Sorts with `sort(keys, index)` and compares with std::stable_sort of each window.
template <class Key, class Sort>
void expect_stable(const std::vector<Key>& input, std::size_t window, Order order, bool with_index, Sort&& sort) {
    const auto expected = stable_places(input, window, order);
    const auto sorted = keys_at(input, expected);
    std::vector<std::uint32_t> index(with_index ? input.size() : 0);
    auto keys = input;
    sort(keys, index);
    CAPTURE(input.size());
    CAPTURE(window);
    REQUIRE(same_bits(keys, sorted));
    if (with_index) REQUIRE(index == expected);
}

// The same for the index alone: the keys do not change.
template <class Key, class Sort>
void expect_argsorted(const std::vector<Key>& input, Order order, Sort&& sort) {
    const auto expected = stable_places(input, whole, order);
    std::vector<std::uint32_t> index(input.size(), 0xabcdU);
    auto keys = input;
    const SortStats stats = sort(keys, index);
    CHECK(stats.n == input.size());
    CAPTURE(input.size());
    REQUIRE(index == expected);
    REQUIRE(same_bits(keys, input));
}

struct Sizes {
    std::vector<std::size_t> every_distribution, any_and_few, uniform_and_specials;
};

// Both orders, with and without an index, with every kernel.
template <class Key>
void sort_everything(SortOptions options, const Sizes& sizes) {
    const auto context = Context::headless();
    const auto sort_all = [&] {
        Sorter sorter(context, options);
        const auto check = [&](const std::string& distribution, std::size_t n) {
            CAPTURE(distribution);
            const auto keys = keys_of<Key>(distribution, n, n + 1);
            expect_stable(keys, whole, options.order, false, [&](auto& k, auto&) {
                const auto stats = sorter.sort(k);
                REQUIRE(stats.n == n);
                REQUIRE(stats.engine == options.engine);
            });
            expect_stable(keys, whole, options.order, true,
                          [&](auto& k, auto& index) { sorter.sort_with_index(k, index); });
            expect_argsorted(keys, options.order, [&](auto& k, auto& index) { return sorter.argsort(k, index); });
        };
        for (const auto& distribution : distributions()) {
            for (const auto n : sizes.every_distribution) check(distribution, n);
        }
        for (const auto n : sizes.any_and_few) {
            check("any bits", n);
            check("few", n);
        }
        for (const auto n : sizes.uniform_and_specials) {
            check("uniform", n);
            check("specials", n);
        }
    };
    for (const auto kernel : kernels_of(context, options.engine)) {
        options.merge.kernel = kernel;
        for (const auto order : {Order::Ascending, Order::Descending}) {
            options.order = order;
            sort_all();
        }
    }
}

template <class Key>
void sort_all_windows(SortOptions options, const std::vector<std::size_t>& windows,
                      const std::vector<std::size_t>& sizes) {
    const auto context = Context::headless();
    for (const auto kernel : kernels_of(context, options.engine)) {
        options.merge.kernel = kernel;
        Sorter sorter(context, options);
        for (const auto window : windows) {
            for (const auto n : sizes) {
                const auto keys = keys_of<Key>("any bits", n, window);
                expect_stable(keys, std::min(window, n), options.order, false,
                              [&](auto& k, auto&) { sorter.sort_windows(k, window); });
            }
        }
    }
}

}  // namespace quadmill::test
