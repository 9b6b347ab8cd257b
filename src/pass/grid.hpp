// Computations on a grid with one cell per texel: a pass computes every cell from the previous cells.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "pass/target.hpp"

namespace quadmill::detail::pass {

// Draws all of the next grid. The program reads the previous grid as texture0 and `more` as texture1 and following.
// Then the next grid becomes the current one.
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
