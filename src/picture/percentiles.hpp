// Exact percentiles of a picture, by counting: each round counts the next four bits of the values' codes, for every
// percentile among the texels whose higher bits are its own.
#pragma once

#include <array>
#include <span>

#include "picture/tally.hpp"

namespace quadmill::detail::picture {

inline constexpr std::size_t max_percentiles = 8;

class Percentiles {
  public:
    Percentiles(gl::Device& device, pass::Programs& programs) : device_(device), programs_(programs) {}

    // R32UI, a texel per fraction: a float by its bits. Pre: 1 to max_percentiles fractions.
    const gl::Texture& find(const Source& source, std::span<const double> phi, Tally& tally);

  private:
    // Draws the planes of the codes' upper `groups` times four bits.
    void draw_planes(const Source& source, int groups);

    gl::Device& device_;
    pass::Programs& programs_;
    pass::Target planes_, found_;
    std::array<pass::Target, 2> states_;  // of the search after a round
};

}  // namespace quadmill::detail::picture
