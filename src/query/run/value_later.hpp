// An aggregate that the CPU reads after the GPU has finished it.
#pragma once

#include "query/gpu/bitmap_columns.hpp"
#include "query/run/measures.hpp"

namespace quadmill::detail::query {

// Requests the measured values without waiting. Pre: a session is open.
[[nodiscard]] Later<Value> read_later(gl::Device& device, const GpuMeasure& measured, const Wanted& wanted,
                                      const Tables& tables);

}  // namespace quadmill::detail::query
