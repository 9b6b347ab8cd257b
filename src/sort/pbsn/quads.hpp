// The quads of SIGMOD'05, routines 4.1 to 4.4: where to draw, and which texels to read there. The names are the
// paper's.
#pragma once

#include <vector>

#include "gl/pass.hpp"

namespace quadmill::detail::sort {

// Routine 4.1: the whole texture, each texel reading itself.
[[nodiscard]] gl::Quad copy_quad(int width, int height);

// Routine 4.2: the block of rows [s, s + height). Each texel of its lower half reads the texel that is opposite through
// the block's centre. compute_max draws the upper half.
[[nodiscard]] gl::Quad compute_min(int s, int width, int height);
[[nodiscard]] gl::Quad compute_max(int s, int width, int height);

// Like compute_min, for columns [offset, offset + block) of every row.
[[nodiscard]] gl::Quad compute_row_min(int offset, int block, int height);
[[nodiscard]] gl::Quad compute_row_max(int offset, int block, int height);

// Routine 4.4: all quads of one step.
struct StepQuads {
    std::vector<gl::Quad> min, max;
};
[[nodiscard]] StepQuads sort_step(int width, int height, std::size_t block);

// Quads over all elements of each window except the last one. Each reads the next element.
[[nodiscard]] std::vector<gl::Quad> next_element_quads(int width, int height, std::size_t window);

}  // namespace quadmill::detail::sort
