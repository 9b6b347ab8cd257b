// Engine::Auto: which engine was measured fastest.
#pragma once

#include <cstddef>

#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// Elements a channel that PBSN sorts before the CPU merges: as measured, and so long that the network is the paper's
// own for up to a million keys.
inline constexpr std::size_t fastest_run = std::size_t{1} << 8, paper_run = std::size_t{1} << 18;

// What there is to sort; window 0 is one sort of all keys.
struct Work {
    KeyType type;
    std::size_t n, window;
};

// Whether a GPU may sort faster than std::sort. The figures are in docs/design.md.
[[nodiscard]] inline bool gpu_may_win(const Work& work) {
    if (work.n < (std::size_t{1} << 18)) return false;
    return work.type == KeyType::F16 || work.window <= 4096;  // with runs of fastest_run, if windows do not rule them
}

// The same for a program that has no context yet: opening one takes as long as sorting a million keys on the CPU.
[[nodiscard]] inline bool gpu_may_win_with_startup(const Work& work) {
    return work.n >= (std::size_t{1} << 21) && gpu_may_win(work);
}

[[nodiscard]] inline Engine choose_engine(const ContextInfo& info, const Work& work) {
    return info.software || !gpu_may_win(work) ? Engine::Cpu : Engine::Pbsn;
}

}  // namespace quadmill::detail::sort
