// SketchEngine::Auto. The measurements are in docs/notes/sketches.md.
#pragma once

#include <cstddef>

#include "quadmill/context.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill::detail::sketch {

// Crossover for a table on the CPU: from this many keys per call on, the GPU is faster.
inline constexpr std::size_t gpu_keys = std::size_t{1} << 18;

// Crossover for batches: from this many keys on, Sort is the fastest form if fragments sort in subgroups.
inline constexpr std::size_t sorted_keys = std::size_t{1} << 18U;

// The form of inserts on a GPU for smaller batches.
[[nodiscard]] inline SketchEngine gpu_engine(SketchKind kind) {
    return kind == SketchKind::Quarter ? SketchEngine::BlendPacked : SketchEngine::BlendCounters;
}

}  // namespace quadmill::detail::sketch
