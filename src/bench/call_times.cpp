#include "bench/call_times.hpp"

#include <utility>

#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"

namespace quadmill::detail::bench {

CallTimes time_call(const Context& context, int repeat, const std::string& name, const std::function<void()>& call) {
    auto& device = *Access::of(context);
    // Otherwise each call would make the context current and end with another one, for which NVIDIA's driver waits.
    const gl::Scope session(device, "bench");
    const auto finish = [&] { gl::Fence(device).wait(); };
    CallTimes times{.name = name};
    call();
    finish();
    wake(context, [&] {
        call();
        finish();
    });
    std::vector<double> calls, all;
    for (int i = 0; i < repeat; ++i) {
        const cpu::Stopwatch time;
        call();
        calls.push_back(time.ms());
        finish();
        all.push_back(time.ms());
    }
    times.call_ms = Spread(std::move(calls)).median;
    Spread(std::move(all)).note_in(times);
    PassProfiler profiler(context);
    call();
    times.parts = profiler.rows();
    for (const auto& part : times.parts) {
        times.gpu_ms += part.gpu_ms;
        times.passes += part.passes;
    }
    return times;
}

}  // namespace quadmill::detail::bench
