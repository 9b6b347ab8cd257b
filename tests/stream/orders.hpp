// Streams of eight kinds (most tests take four of them with sanitizers), and exact ranks and counts to compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sanitized.hpp"

namespace quadmill::test {

inline const std::vector<std::string> all_orders{"random",    "sorted",     "reversed",   "zig-zag",
                                                 "many ties", "heavy tail", "two-valued", "adversarial"};
inline const std::vector<std::string> orders =
    sanitized ? std::vector<std::string>{"random", "zig-zag", "many ties", "adversarial"} : all_orders;

// A weight for each value, few of them large, and the values as often as their weights say.
struct Weighted {
    std::vector<std::uint64_t> weights;
    std::vector<double> all;
};
inline Weighted weighted(const std::vector<double>& values, std::mt19937_64& random) {
    Weighted out;
    for (const double value : values) {
        out.weights.push_back(random() % 50 == 0 ? random() % 3'000 : random() % 4);
        out.all.insert(out.all.end(), out.weights.back(), value);
    }
    return out;
}

// Values are small whole numbers, so that every type can represent those of a short stream.
inline std::vector<double> stream(const std::string& order, std::size_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> values(n);
    const auto all = static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<double>(i);
        const auto uniform = static_cast<double>(random() >> 11U) * 0x1p-53;
        auto& v = values[i];
        if (order == "random") v = std::floor(uniform * 1e6);
        if (order == "sorted") v = at;
        if (order == "reversed") v = all - at;
        if (order == "zig-zag") v = i % 2 == 0 ? at : 2 * all - at;  // from both ends to the middle
        if (order == "many ties") v = std::floor(uniform * 20);
        if (order == "heavy tail") v = std::floor(1 / std::pow(1 - uniform, 1.2));
        if (order == "two-valued") v = uniform < 0.3 ? 1 : 2;
    }
    // Adversarial for Greenwald and Khanna: each part is half as long as the previous one and goes into the middle of
    // the widest gap of the values so far, so that summaries never see the ranks that they are asked for.
    if (order == "adversarial") {
        double low = 0, high = 0x1p40;
        for (std::size_t i = 0; i < n; ++i) {
            const auto part = std::max<std::size_t>(n / 64, 1);
            if (i % part == 0 && i > 0) {
                const double third = (high - low) / 3;
                low += third;
                high -= third;
                if (high - low < 64) low = 0, high = 0x1p40;
            }
            values[i] = std::floor(low + (high - low) * static_cast<double>(i % part) / static_cast<double>(part));
        }
    }
    return values;
}

// The distance of a value with these ranks from the requested rank.
inline double rank_error(const std::vector<double>& sorted, double value, std::uint64_t rank) {
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin() + 1;
    const auto last = std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
    if (first > last) return 1e300;  // the value does not occur
    const auto r = static_cast<double>(rank);
    return std::max({static_cast<double>(first) - r, r - static_cast<double>(last), 0.0});
}

inline std::map<double, std::uint64_t> exact_counts(const std::vector<double>& values) {
    std::map<double, std::uint64_t> counts;
    for (const double v : values) ++counts[v];
    return counts;
}

}  // namespace quadmill::test
