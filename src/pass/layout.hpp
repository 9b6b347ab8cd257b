// How a 1-D array is laid out in a texture.
#pragma once

#include <cstddef>

namespace quadmill::detail::pass {

// Four arrays in one texture (of a stream: four windows of each block): channel c has array c, and element i is at
// texel (i mod width, i div width). SIGMOD'05, section 4.1.
struct FourArray {
    int width = 0, height = 0;

    // For one array of 2^k elements in each channel: width 2^floor(k/2), height 2^ceil(k/2). Routine 4.3, line 2.
    static FourArray of_power(int k);
    // For `blocks` blocks of 2^k elements in each channel, one after the other. The width is near the square root of
    // the size, and there are as many rows as needed.
    static FourArray of_blocks(int k, std::size_t blocks);

    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    // Index of element i of channel c in the texture's memory, counted in channel values.
    [[nodiscard]] static std::size_t position(std::size_t i, std::size_t channel) { return 4 * i + channel; }
};

// The smallest k with 2^k >= n; 0 for n = 0.
[[nodiscard]] int log2_ceil(std::size_t n);

}  // namespace quadmill::detail::pass
