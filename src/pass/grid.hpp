// Computations on a grid, a texel a cell: a pass computes every cell again from cells as they are.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "pass/target.hpp"

namespace quadmill::detail::pass {

// Draws over all of the grid; the program reads the grid as it is as texture0 and `more` as texture1 and on. Then what
// was drawn is the grid.
inline void advance(gl::Device& device, std::string_view name, const gl::Program& program, PingPong& grid,
                    std::initializer_list<const gl::Texture*> more = {}, gl::Uniforms uniforms = {}) {
    gl::Pass pass{.name = name,
                  .program = &program,
                  .inputs = {&grid.now.texture},
                  .uniforms = std::move(uniforms),
                  .target = &grid.next.framebuffer,
                  .quads = &grid.next.whole};
    std::ranges::copy(more, pass.inputs.begin() + 1);
    draw(device, pass);
    grid.swap();
}

}  // namespace quadmill::detail::pass
