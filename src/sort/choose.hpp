// Engine::Auto: which engine was measured fastest.
#pragma once

#include <cstddef>

#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// Whether any GPU may sort n keys faster than std::sort; saves opening a context where none does.
[[nodiscard]] inline bool gpu_may_win(std::size_t n) {
    constexpr std::size_t crossover = std::size_t{1} << 18;
    return n >= crossover;
}

[[nodiscard]] inline Engine choose_engine(const ContextInfo& info, std::size_t n) {
    return info.software || !gpu_may_win(n) ? Engine::Cpu : Engine::Pbsn;
}

}  // namespace quadmill::detail::sort
