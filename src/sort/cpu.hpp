// std::sort in the library's total order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "sort/keys.hpp"

namespace quadmill::detail::sort {

// Throws InvalidArgument when the index does not fit the keys.
void check_index(const char* function, Keys keys, std::span<const std::uint32_t> index);

// Sorts values given by their bits.
template <class Float>
void sort_bits(std::span<typename KeyBits<Float>::Bits> bits, Order order) {
    const TotalOrder<Float> rule(order);
    for (auto& b : bits) b = rule.encode(b);
    std::sort(bits.begin(), bits.end());
    for (auto& b : bits) b = rule.decode(b);
}

// Sorts each window of the keys, through `scratch`, which is kept by the caller to be used again.
template <class Float>
void sort_windows_by_std(std::span<Float> keys, std::size_t window, Order order,
                         std::vector<typename KeyBits<Float>::Bits>& scratch) {
    using Keys = KeyBits<Float>;
    for (std::size_t begin = 0; begin < keys.size(); begin += window) {
        const auto part = keys.subspan(begin, std::min(window, keys.size() - begin));
        scratch.resize(part.size());
        std::transform(part.begin(), part.end(), scratch.begin(), Keys::of);
        sort_bits<Float>(scratch, order);
        std::transform(scratch.begin(), scratch.end(), part.begin(), Keys::value);
    }
}

}  // namespace quadmill::detail::sort
