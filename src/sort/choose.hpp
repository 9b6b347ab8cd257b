// Engine::Auto: which engine was measured fastest.
#pragma once

#include <cstddef>

#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// For one sort of n keys, or of windows of them.
[[nodiscard]] inline Engine choose_engine(const ContextInfo& info, std::size_t n) {
    constexpr std::size_t crossover = std::size_t{1} << 18;
    return info.software || n < crossover ? Engine::Cpu : Engine::Pbsn;
}

}  // namespace quadmill::detail::sort
