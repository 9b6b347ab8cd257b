// Cuts keys into parts of one texture each.
#pragma once

#include <cstddef>
#include <vector>

#include "pass/layout.hpp"
#include "quadmill/paper.hpp"

namespace quadmill::detail::sort {

// A part of the keys that is sorted in one texture, by a network for blocks of 2^k elements in each channel.
struct Chunk {
    std::size_t begin = 0, size = 0;
    pass::FourArray shape{};
    int k = 0;
};

// For one sort of n keys: textures of whole blocks of max_run, then a smaller block that is full, and so on for the
// rest, until padding costs less than another texture. So the time does not jump after a power of two. Pre: both limits
// are powers of two.
[[nodiscard]] std::vector<Chunk> cut(std::size_t n, std::size_t max_texels, std::size_t max_run);

// Auto splits each window over the four channels: measurements show that smaller networks save more than merging costs.
[[nodiscard]] inline Channels channels_for(Channels wanted) {
    return wanted == Channels::Auto ? Channels::Split : wanted;
}
// Elements of a window per channel.
[[nodiscard]] inline std::size_t in_a_channel(std::size_t window, Channels channels) {
    return channels == Channels::Split ? (window + 3) / 4 : window;
}

// For separate windows: each texture gets as many whole windows as fit. Pre: one window fits; not Channels::Auto.
[[nodiscard]] std::vector<Chunk> cut_windows(std::size_t n, std::size_t window, std::size_t max_texels,
                                             Channels channels);

}  // namespace quadmill::detail::sort
