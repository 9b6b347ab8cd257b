// Shallow water on a grid of cells, advanced in passes. The water and the length of a time step stay on the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gl/device.hpp"
#include "pass/fold.hpp"
#include "pass/target.hpp"
#include "quadmill/context.hpp"
#include "window/texels.hpp"

namespace demo {

// Height, momentum to the right, momentum up, dye. The unit of length is a cell's side, and gravity is 1.
using Cell = Texel;

struct Pond {
    int width, height;
    std::vector<Cell> cells;  // row after row, from the lowest
};
// Water at rest, of depth 1, with some drops of dyed water on it.
[[nodiscard]] Pond pond_with_drops(int width, int height, std::uint32_t seed);

class Water {
  public:
    // The distance that the fastest wave travels in a step, in cells. Above 1/2 the scheme is unstable.
    static constexpr float courant = 0.45F;

    Water(const quadmill::Context& context, const Pond& pond);
    void advance(int steps = 1);
    // The current state. Waits for the GPU.
    [[nodiscard]] Pond read();
    // The sum of all cells; walls conserve the height and the dye. Waits for the GPU.
    [[nodiscard]] Cell sum();

  private:
    [[nodiscard]] const quadmill::detail::gl::Texture& fastest_wave();

    quadmill::Context context_;
    quadmill::detail::gl::Device& device_;
    int width_, height_;
    quadmill::detail::pass::Programs programs_;
    quadmill::detail::pass::PingPong cells_;
    std::optional<quadmill::detail::pass::Fold> sums_, speeds_;
};

}  // namespace demo
