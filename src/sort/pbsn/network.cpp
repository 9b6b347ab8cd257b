#include "sort/pbsn/network.hpp"

namespace quadmill::detail::sort {

std::vector<NetworkStep> pbsn_stage(int k, int stage) {
    std::vector<NetworkStep> steps;
    for (int j = k; j >= 1; --j) steps.push_back({stage, k - j + 1, j});
    return steps;
}

std::vector<NetworkStep> pbsn_network(int k) {
    std::vector<NetworkStep> steps;
    for (int stage = 1; stage <= k; ++stage) {
        const auto one = pbsn_stage(k, stage);
        steps.insert(steps.end(), one.begin(), one.end());
    }
    return steps;
}

Partner partner(const NetworkStep& step, std::size_t i) {
    const auto block = std::size_t{1} << static_cast<unsigned>(step.log2_block);
    const auto within = i & (block - 1);
    return {i - within + (block - 1 - within), within < block / 2};
}

}  // namespace quadmill::detail::sort
