// Times passes; all measurements of the pipeline use it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/limits.hpp"
#include "bench/spread.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"

namespace quadmill::detail::bench {

constexpr int many = 8;  // passes between two waits, so that the wait does not count

// Pre of every call: a session is open.
class PassMeter {
  public:
    PassMeter(gl::Device& device, int repeat) : device_(device), repeat_(repeat) {}

    // One warm-up, then the median, min and max of the results of `work`, in `unit`.
    [[nodiscard]] Limit measure(const std::string& name, const std::string& unit,
                                const std::function<double()>& work) const {
        static_cast<void>(work());
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(repeat_));
        for (int i = 0; i < repeat_; ++i) values.push_back(work());
        const Spread spread(std::move(values));
        return {name, spread.median, spread.low, spread.high, unit};
    }
    // Time until the GPU has finished what `work` issues, by wall clock: llvmpipe's timestamps do not wait for
    // fragments.
    [[nodiscard]] double seconds(const std::function<void()>& work) const {
        gl::Fence(device_).wait();
        const cpu::Stopwatch time;
        work();
        gl::Fence(device_).wait();
        return time.ms() * 1e-3;
    }

    // 10^9 per second, if each of `passes` calls of `issue` does `amount`. Flushes after each: llvmpipe drops passes
    // that a later pass of the same batch covers.
    [[nodiscard]] double rate(double amount, int passes, const std::function<void()>& issue) const {
        return amount * passes * 1e-9 / seconds([&] {
                   for (int i = 0; i < passes; ++i) {
                       issue();
                       gl::flush(device_);
                   }
               });
    }

  protected:
    gl::Device& device_;  // NOLINT(misc-non-private-member-variables-in-classes)

  private:
    int repeat_;
};

}  // namespace quadmill::detail::bench
