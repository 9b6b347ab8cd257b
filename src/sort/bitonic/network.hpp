// GPUTeraSort's bitonic sort (SIGMOD'06, Routine 4.1) as data, with no OpenGL in it.
#pragma once

#include <cstddef>
#include <vector>

#include "quadmill/paper.hpp"

namespace quadmill::detail::sort {

// How the elements of all windows lie in the channels of a texture's texels, section 4.2: element e of N is in channel
// e mod 4 of texel e div 4 (single array) or in channel e div (N / 4) of texel e mod (N / 4) (four arrays). So both are
// the same network, with other bits of e for the channel.
struct BitonicShape {
    Representation representation = Representation::SingleArray;
    int k = 2;           // log2 of the elements of a window, at least 2
    int texel_k = 0;     // log2 of the texels that it takes
    int width_log2 = 0;  // of the texture
    int height = 1;

    // Pre: both at least 1.
    static BitonicShape of(Representation representation, std::size_t windows, std::size_t window);
    [[nodiscard]] int width() const { return 1 << width_log2; }
    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(width()) * static_cast<std::size_t>(height);
    }
    bool operator==(const BitonicShape&) const = default;
};

// One pass: steps of one stage. Stages count from 1; step j of a stage compares elements at a distance of 2^(j-1), the
// last one is step 1.
struct BitonicPass {
    int stage = 0, step = 0;  // the last step that the pass makes
    int steps = 0;            // that many on texels, at distances down to
    int low = 0;              // 2^low texels
    bool pairs = false;       // stage 1 of the four elements in a texel: x y ascending, z w descending
    bool fours = false;       // the two steps of stage 2, which sort a bitonic x y z w
    int turn = -1;            // texels with this bit in their number go the other way; -1: none do
    int turn_channel = 0;     // channels with this bit, likewise
};

// All passes that sort every window. With more than one step per pass, the last pass of a stage of a single array makes
// the steps within texels as well, and they need no pass of their own.
[[nodiscard]] std::vector<BitonicPass> bitonic_passes(const BitonicShape& shape, int steps_per_pass);

}  // namespace quadmill::detail::sort
