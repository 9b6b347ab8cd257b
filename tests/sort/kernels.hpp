// The kernels of the merge engine that a device has.
#pragma once

#include <vector>

#include "gl/device.hpp"
#include "gl/lanes.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::test {

inline std::vector<MergeKernel> kernels_of(const Context& context) {
    auto& device = *detail::Access::of(context);
    const detail::gl::Scope scope(device, "test");
    if (!detail::gl::has_lanes_in_boxes(device)) return {MergeKernel::Fragment};
    return {MergeKernel::Fragment, MergeKernel::Subgroup};
}

// The kernels for the options' engine. For engines that do not merge, one that makes no difference.
inline std::vector<MergeKernel> kernels_of(const Context& context, Engine engine) {
    if (engine != Engine::Merge && engine != Engine::Hybrid) return {MergeKernel::Auto};
    return kernels_of(context);
}

}  // namespace quadmill::test
