// GPUTeraSort's bitonic sort (SIGMOD'06, Routine 4.1) as data, without OpenGL.
#pragma once

#include <cstddef>
#include <vector>

#include "quadmill/paper.hpp"

namespace quadmill::detail::sort {

// Layout of the elements of all windows in the channels of a texture's texels, section 4.2. Element e of N is in
// channel e mod 4 of texel e div 4 (single array), or in channel e div (N / 4) of texel e mod (N / 4) (four arrays).
// Both are the same network; only the bits of e that select the channel differ.
struct BitonicShape {
    Representation representation = Representation::SingleArray;
    int k = 2;           // log2 of a window's elements, at least 2
    int texel_k = 0;     // log2 of a window's texels
    int width_log2 = 0;  // log2 of the texture's width
    int height = 1;

    // Pre: `windows` and `window` >= 1.
    static BitonicShape of(Representation representation, std::size_t windows, std::size_t window);
    [[nodiscard]] int width() const { return 1 << width_log2; }
    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(width()) * static_cast<std::size_t>(height);
    }
    bool operator==(const BitonicShape&) const = default;
};

// One pass: steps of one stage. Stages count from 1. Step j of a stage compares elements at distance 2^(j-1), and step
// 1 is the last one.
struct BitonicPass {
    int stage = 0, step = 0;  // the last step that the pass makes
    int steps = 0;            // number of steps between texels; the last one
    int low = 0;              // has distance 2^low texels
    bool pairs = false;       // also makes stage 1 within a texel: x y ascending, z w descending
    bool fours = false;       // also makes the two steps of stage 2, which sort a bitonic x y z w
    int turn = -1;            // bit of a texel's number that reverses the direction; -1: none
    int turn_channel = 0;     // bit of a channel's number that reverses the direction
};

// All passes that sort every window. With more than one step per pass, the last pass of a stage of a single array also
// makes the steps within texels, which then need no pass of their own.
[[nodiscard]] std::vector<BitonicPass> bitonic_passes(const BitonicShape& shape, int steps_per_pass);

}  // namespace quadmill::detail::sort
