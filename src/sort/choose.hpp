// Engine::Auto: which engine was measured fastest. The figures are in docs/measurements.md.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pass/layout.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// Elements a channel that PBSN sorts before the CPU merges: so long that the network is the paper's own for up to a
// million keys. (2^8 is fastest.)
inline constexpr std::size_t paper_run = std::size_t{1} << 18;

// What there is to sort: windows (or segments, of that mean length), all keys (window 0), or the best of them.
struct Work {
    std::size_t n = 0, window = 0;
    bool top = false;
};

// Whether the merge engine was measured faster than std::sort in a context that is open: all types cross near 2^14
// keys. What std::sort takes grows with n log(window), and finding the best with n; the merge engine pads short
// windows.
[[nodiscard]] inline bool merge_wins(const ContextInfo& info, const Work& work) {
    if (info.software) return false;
    if (work.top) return work.n >= (std::size_t{1} << 17U);
    const auto window = work.window == 0 ? work.n : std::min(work.window, work.n);
    const auto cost = work.n * static_cast<std::size_t>(pass::log2_ceil(window));
    return window >= 16 && cost >= (window >= 64 ? 14 * (std::size_t{1} << 14U) : std::size_t{1} << 19U);
}

// The same for a program that has no context yet: opening one and loading shaders takes some 100 ms, as sorting a
// million keys on the CPU does. (Compiling them, once, where the driver keeps them, takes a second.)
[[nodiscard]] inline bool gpu_may_win_with_startup(const Work& work) {
    return work.n >= (std::size_t{1} << (work.top ? 23U : 21U));
}

}  // namespace quadmill::detail::sort
