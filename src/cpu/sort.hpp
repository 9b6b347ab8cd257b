// std::sort in the library's total order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "cpu/keys.hpp"

namespace quadmill::detail::cpu {

// These throw InvalidArgument: when 32 bits cannot count so many keys, the index does not fit the keys, the best ones
// do not fit them, the ends do not ascend to keys.size().
void check_index_range(const char* function, std::size_t n);
void check_index(const char* function, Keys keys, std::span<const std::uint32_t> index);
void check_top(const char* function, Keys keys, Keys best, std::span<const std::uint32_t> index);
void check_segments(const char* function, Keys keys, std::span<const std::size_t> ends);

[[nodiscard]] std::vector<std::size_t> ends_of_windows(std::size_t n, std::size_t window);

// Sorts values given by their bits.
template <class Float>
void sort_bits(std::span<typename KeyBits<Float>::Bits> bits, Order order) {
    const TotalOrder<Float> rule(order);
    for (auto& b : bits) b = rule.encode(b);
    std::sort(bits.begin(), bits.end());
    for (auto& b : bits) b = rule.decode(b);
}

// Sorts keys through `scratch`, which is kept by the caller to be used again.
template <class Key>
void sort_by_std(std::span<Key> keys, Order order, std::vector<typename KeyBits<Key>::Bits>& scratch) {
    scratch.resize(keys.size());
    std::transform(keys.begin(), keys.end(), scratch.begin(), KeyBits<Key>::of);
    sort_bits<Key>(scratch, order);
    std::transform(scratch.begin(), scratch.end(), keys.begin(), KeyBits<Key>::value);
}

}  // namespace quadmill::detail::cpu
