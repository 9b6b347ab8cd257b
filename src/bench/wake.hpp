// Raises a GPU's clock before it is timed.
#pragma once

#include <limits>

#include "cpu/stopwatch.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

// Tells when repeated work has stopped getting faster. A GPU that idles while the CPU works lowers its clock, an H100
// from 1,980 to 345 MHz. After seconds of idling, raising it takes longer than after a moment.
class Steady {
  public:
    explicit Steady(double quiet_ms) : quiet_ms_(quiet_ms) {}

    // Takes the time of one more repetition. Returns true once none has been clearly faster for `quiet_ms`, and always
    // after some seconds.
    bool add(double ms) {
        constexpr double clearly = 0.97, max_ms = 3000;
        spent_ms_ += ms;
        quiet_for_ms_ += ms;
        if (ms < best_ms_ * clearly) {  // compared with the last clear improvement, so that many small ones count, too
            quiet_for_ms_ = 0;
            best_ms_ = ms;
        }
        return quiet_for_ms_ >= quiet_ms_ || spent_ms_ >= max_ms;
    }

  private:
    double quiet_ms_, quiet_for_ms_ = 0, spent_ms_ = 0, best_ms_ = std::numeric_limits<double>::infinity();
};

// Repeats the work untimed until the GPU runs at its full clock.
template <class Work>
void wake(const Context& context, Work work) {
    constexpr double quiet_ms = 200;
    if (context.info().software) return;
    for (Steady steady(quiet_ms);;) {
        const cpu::Stopwatch time;
        work();
        if (steady.add(time.ms())) return;
    }
}

}  // namespace quadmill::detail::bench
