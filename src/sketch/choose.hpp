// SketchEngine::Auto; the measurements are in docs/notes/sketches.md.
#pragma once

#include <cstddef>

#include "quadmill/context.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill::detail::sketch {

// Keys of a call from which on the GPU pays, for a table on the CPU.
inline constexpr std::size_t gpu_keys = std::size_t{1} << 18;

// Keys of a batch from which on Sort is the fastest form if fragments sort in subgroups.
inline constexpr std::size_t sorted_keys = std::size_t{1} << 18U;

// The form of inserts on a GPU otherwise.
[[nodiscard]] inline SketchEngine gpu_engine(SketchKind kind) {
    return kind == SketchKind::Quarter ? SketchEngine::BlendPacked : SketchEngine::BlendCounters;
}

}  // namespace quadmill::detail::sketch
