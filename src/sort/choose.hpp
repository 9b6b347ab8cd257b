// Engine::Auto: which engine was measured fastest.
#pragma once

#include <cstddef>

#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// Elements a channel that PBSN sorts before the CPU merges: so long that the network is the paper's own for up to a
// million keys. (2^8 is fastest.)
inline constexpr std::size_t paper_run = std::size_t{1} << 18;

// What there is to sort; window 0 is one sort of all keys.
struct Work {
    KeyType type;
    std::size_t n, window;
};

// Whether the merge engine was measured faster than std::sort in a context that is open. The figures are in
// docs/design.md.
[[nodiscard]] inline bool merge_wins(const ContextInfo& info, const Work& work) {
    return !info.software && work.n >= (std::size_t{1} << 15U) && work.n < (std::size_t{1} << 29U);
}

// The same for a program that has no context yet: opening one and compiling shaders takes as long as sorting millions of
// keys on the CPU.
[[nodiscard]] inline bool gpu_may_win_with_startup(const Work& work) {
    return work.n >= (std::size_t{1} << 22U);
}

[[nodiscard]] inline Engine choose_engine(const ContextInfo& info, const Work& work) {
    return merge_wins(info, work) ? Engine::Merge : Engine::Cpu;
}

}  // namespace quadmill::detail::sort
