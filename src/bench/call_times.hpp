// Times of a call that does not wait for the GPU: the CPU's until it returns, and the GPU's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

struct CallTimes {
    std::string name;
    double call_ms = 0;                      // of the CPU: from the call to its return
    double ms = 0, low_ms = 0, high_ms = 0;  // from the call until the GPU has finished
    double gpu_ms = 0;                       // of the passes alone, by the GPU's clock if it has one
    std::uint64_t passes = 0;
    bool verified = true;
    std::vector<PassProfiler::Row> parts{};
};

// Repeats the call, after a first one that is not timed.
[[nodiscard]] CallTimes time_call(const Context& context, int repeat, const std::string& name,
                                  const std::function<void()>& call);

}  // namespace quadmill::detail::bench
