// Cutting keys into parts of one texture each.
#pragma once

#include <cstddef>
#include <vector>

#include "array/layout.hpp"

namespace quadmill::detail::sort {

// A part of the keys that is sorted in one texture, by a network for 2^k elements.
struct Chunk {
    std::size_t begin = 0, size = 0;
    array::FourArray shape{};
    int k = 0;
};

// For one sort of n keys: the largest power of two that is full, and so on with the rest, until padding costs less than
// another texture. So there is no cliff behind a power of two.
[[nodiscard]] std::vector<Chunk> cut(std::size_t n, std::size_t max_texels);

// For windows of their own: as many whole windows as a texture holds. Pre: one window fits.
[[nodiscard]] std::vector<Chunk> cut_windows(std::size_t n, std::size_t window, std::size_t max_texels);

}  // namespace quadmill::detail::sort
