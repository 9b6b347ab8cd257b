// Keys for sorts in tests of other things, and their expected order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gl/state_poison.hpp"
#include "quadmill/sort.hpp"
#include "sort/data.hpp"

namespace quadmill::test {

enum class Specials { None, Some };

// The engine whose passes change the most state: it blends.
inline SortOptions pbsn(Order order, EarlyStop early_stop, std::size_t max_texels = std::size_t{1} << 24) {
    return {.order = order,
            .engine = Engine::Pbsn,
            .threads = 1,
            .paper = {.pbsn = {.early_stop = early_stop, .max_texels = max_texels}}};
}

// Numbers, infinities and ties. With Specials::Some also values that blending cannot order.
template <class Float>
std::vector<Float> sample_keys(Random& random, std::size_t n, Specials specials) {
    return make<Float>(specials == Specials::Some ? "mixed with specials" : "mixed", n, random.bits());
}

// The keys in the library's order, sorted with std::sort. Window 0 means all keys.
template <class Float>
std::vector<Float> sorted(std::vector<Float> keys, Order order, std::size_t window = 0) {
    if (window == 0) {
        sort_on_cpu(std::span(keys), order);
    } else {
        sort_windows_on_cpu(std::span(keys), window, order);
    }
    return keys;
}

// Empty if both have the same bits, otherwise the first difference.
template <class Float>
std::string bits_differ(const std::vector<Float>& expected, const std::vector<Float>& found) {
    if (expected.size() != found.size()) return "sizes differ";
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::memcmp(&expected[i], &found[i], sizeof(Float)) != 0) {
            return "bits differ at index " + std::to_string(i) + " of " + std::to_string(found.size());
        }
    }
    return {};
}

}  // namespace quadmill::test
