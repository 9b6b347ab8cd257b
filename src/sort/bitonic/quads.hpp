// The quads of GPUTeraSort's Routine 4.1, in blocks as in its section 4.4: where to draw, which texels to compare, and
// which to keep.
#pragma once

#include <vector>

#include "gl/pass.hpp"
#include "sort/bitonic/network.hpp"

namespace quadmill::detail::sort {

// Quads of one pass. Their texture coordinates run over the partners in the pass's first step. A code times the
// texture's width is added to the x coordinate; shaders/sort/bitonic_step.frag decodes it.
struct BitonicQuads {
    std::vector<gl::Quad> quads;
    // Rows whose number has this bit have the reverse direction. Otherwise each quad has one direction. This bit is
    // used if the direction changes from row to row within a column of texels that all meet the same column; quads
    // would then be as small as a texel.
    int turn_row = 0;
    // Beyond the paper: in a pass of several steps, columns that are too narrow for efficient shading are joined to one
    // quad. These bits of a column's number, counted in units of the last step's distance, tell which key to keep and
    // which partner to meet.
    int columns = 0;
};

// Draws blocks of `block` x `block` texels one after the other if all partners of a block's texels are in that block
// (case 2 of section 4.4). 0 draws whole quads. Pre: a power of two.
[[nodiscard]] BitonicQuads bitonic_quads(const BitonicShape& shape, const BitonicPass& pass, int block);

}  // namespace quadmill::detail::sort
