// Orders of an application's keys on the GPU, as a frame needs them, and what a read-back would take.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/call_times.hpp"

namespace quadmill::detail::bench {

// n depths (R32F) in a texture and in a buffer, and n values of 16 bytes that travel with them. The last contender
// reads the depths back, sorts them with the CPU's threads and sends the order.
[[nodiscard]] std::vector<CallTimes> measure_guest(const Context& context, std::size_t n, int repeat);

}  // namespace quadmill::detail::bench
