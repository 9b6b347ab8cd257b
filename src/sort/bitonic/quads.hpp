// The quads of GPUTeraSort's Routine 4.1, in blocks as in its section 4.4: where to draw, which texels to meet, and
// what to keep.
#pragma once

#include <vector>

#include "gl/pass.hpp"
#include "sort/bitonic/network.hpp"

namespace quadmill::detail::sort {

// Quads of one pass. Their texture coordinates run over the partners of the pass's first step, moved right by the width
// of the texture times a code; shaders/sort/bitonic_step.frag reads it.
struct BitonicQuads {
    std::vector<gl::Quad> quads;
    // Rows with this bit go the other way. Quads say the direction, but where it changes from row to row within a
    // column of texels that all meet the same column: then each quad would be as small as a texel.
    int turn_row = 0;
    // Past the paper: in a pass of several steps, columns that are narrower than hardware shades well are one quad, and
    // these bits of a column's number, counted in units of the last step's distance, say what to keep and whom to meet.
    int columns = 0;
};

// `block` texels square are drawn one block after the other where all that a texel of it meets is in it (case 2 of
// section 4.4); 0 draws whole quads. Pre: a power of two.
[[nodiscard]] BitonicQuads bitonic_quads(const BitonicShape& shape, const BitonicPass& pass, int block);

}  // namespace quadmill::detail::sort
