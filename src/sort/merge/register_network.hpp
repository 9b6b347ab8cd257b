// Sorting networks that a fragment runs in its registers, as data; converted to GLSL for the shaders.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quadmill::detail::sort {

// Element .first gets the smaller value, element .second the larger one.
using Comparators = std::vector<std::pair<int, int>>;

// Sorts n elements; Batcher's odd-even merge sort (1968). Pre: n is a power of two.
[[nodiscard]] Comparators odd_even_merge_sort(int n);

// Sorts n elements that form a bitonic sequence, in either direction. Pre: n is a power of two.
[[nodiscard]] Comparators bitonic_merge(int n);

// Reverses the order: bitonic_merge() then sorts in descending order.
[[nodiscard]] Comparators turned_round(Comparators network);

// "#define NAME(v) EXCHANGE(v[0], v[1]) ..."
[[nodiscard]] std::string as_macro(const std::string& name, const Comparators& network,
                                   const std::string& exchange = "EXCHANGE");

}  // namespace quadmill::detail::sort
