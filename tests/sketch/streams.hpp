// Streams of keys for tests of sketches, and their true counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "quadmill/sketch.hpp"

namespace quadmill::test {

inline const std::vector<SketchKind> all_kinds{SketchKind::Thread,  SketchKind::Warp, SketchKind::Half,
                                               SketchKind::Quarter, SketchKind::Msws, SketchKind::Sf};

inline const char* name_of(SketchKind kind) {
    static const char* const names[]{"thread", "warp", "half", "quarter", "msws", "sf"};
    return names[static_cast<int>(kind)];
}

// "uniform": random keys. "zipf": the k-th most frequent of 2^16 keys has a probability proportional to k^-1.1. "one":
// always the same key.
template <class T>
std::vector<T> sketch_stream(const std::string& name, std::size_t n, std::uint64_t seed) {
    std::mt19937_64 numbers(seed);
    std::vector<T> keys(n);
    std::vector<double> sums;
    for (int k = 1; name == "zipf" && k <= 1 << 16; ++k)
        sums.push_back((sums.empty() ? 0 : sums.back()) + std::pow(k, -1.1));
    for (auto& key : keys) {
        const auto random = numbers();
        if (name == "uniform") {
            key = static_cast<T>(random);
        } else if (name == "zipf") {
            const auto at = static_cast<double>(random >> 11U) * 0x1p-53 * sums.back();
            key = static_cast<T>(std::ranges::lower_bound(sums, at) - sums.begin());
        } else {
            key = static_cast<T>(123456789);
        }
    }
    return keys;
}

template <class T>
std::unordered_map<T, std::uint64_t> exact_counts(const std::vector<T>& keys) {
    std::unordered_map<T, std::uint64_t> counts;
    for (const auto& key : keys) ++counts[key];
    return counts;
}

// Subtracts one table from another, counter by counter, but not below 0.
inline std::vector<std::uint64_t> less(std::vector<std::uint64_t> counters, const std::vector<std::uint64_t>& other) {
    for (std::size_t i = 0; i < counters.size(); ++i) counters[i] -= std::min(counters[i], other.at(i));
    return counters;
}

}  // namespace quadmill::test
