#include "sort/bitonic/network.hpp"

#include <algorithm>

#include "pass/layout.hpp"

namespace quadmill::detail::sort {

BitonicShape BitonicShape::of(Representation representation, std::size_t windows, std::size_t window) {
    const int k = std::max(pass::log2_ceil(window), 2);
    const bool single = representation == Representation::SingleArray;
    // With four arrays, several windows are distributed over the channels, each window in one channel.
    const int texel_k = single || windows == 1 ? k - 2 : k;
    const auto texture = pass::FourArray::of_blocks(texel_k, single ? windows : (windows + 3) / 4);
    return {representation, k, texel_k, pass::log2_ceil(static_cast<std::size_t>(texture.width)), texture.height};
}

std::vector<BitonicPass> bitonic_passes(const BitonicShape& shape, int steps_per_pass) {
    const bool single = shape.representation == Representation::SingleArray;
    const int below = single ? 2 : 0;  // steps of a stage that are within texels
    std::vector<BitonicPass> passes;
    for (int stage = 1 + below / 2; stage <= shape.k; ++stage) {
        BitonicPass pass{.stage = stage};
        // Blocks of 2^stage elements alternate in direction. In the last stage each window is one block.
        if (stage < shape.k) {
            const int bit = stage - below;
            pass.turn = bit < shape.texel_k ? bit : -1;
            pass.turn_channel = bit < shape.texel_k ? 0 : 1 << (bit - shape.texel_k);
        }
        const auto add = [&](int steps, int low, bool pairs, bool fours) {
            pass.steps = steps;
            pass.low = low;
            pass.pairs = pairs;
            pass.fours = fours;
            pass.step = single && fours ? 1 : low + below + 1;
            passes.push_back(pass);
        };
        if (!single && stage > shape.texel_k)
            add(0, shape.texel_k, stage == shape.texel_k + 1, stage == shape.texel_k + 2);
        const int on_texels = std::min(stage - below, shape.texel_k);
        for (int low = on_texels; low > 0;) {
            const int steps = std::min(low, steps_per_pass);
            low -= steps;
            add(steps, low, false, single && low == 0 && steps_per_pass > 1);
        }
        if (single && (on_texels == 0 || steps_per_pass == 1)) add(0, 0, stage == 2, true);
    }
    return passes;
}

}  // namespace quadmill::detail::sort
