// GPUs whose clocks are up when they are timed.
#pragma once

#include "cpu/stopwatch.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

// A GPU that idles while the CPU works lowers its clock, an H100 from 1,980 to 345 MHz, and takes a while to raise it
// again. So it does, untimed, right before it is timed, what it is timed by.
template <class Work>
void wake(const Context& context, Work work) {
    constexpr double ms = 200;
    if (context.info().software) return;
    for (const cpu::Stopwatch time; time.ms() < ms;) work();
}

}  // namespace quadmill::detail::bench
