// The periodic balanced sorting network (Dowd, Perl, Rudolph, Saks) as data, without OpenGL.
#pragma once

#include <cstddef>
#include <vector>

namespace quadmill::detail::sort {

// One step: in each block of 2^log2_block elements, element i meets element block - 1 - i; the lower half keeps the
// smaller one. Stages and steps count from 1.
struct NetworkStep {
    int stage, step, log2_block;
};

// All steps that sort windows of 2^k elements: k stages of k steps, blocks from 2^k down to 2. Routine 4.3.
[[nodiscard]] std::vector<NetworkStep> pbsn_network(int k);

// The steps of one stage. All stages are alike; hence the network is called periodic.
[[nodiscard]] std::vector<NetworkStep> pbsn_stage(int k, int stage);

// The element that element i is compared with, and whether i keeps the smaller value.
struct Partner {
    std::size_t index;
    bool keeps_min;
};
[[nodiscard]] Partner partner(const NetworkStep& step, std::size_t i);

}  // namespace quadmill::detail::sort
