// What this machine's graphics pipeline can do at most: the bounds that engines are judged by.
#pragma once

#include <string>
#include <vector>

#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

struct Limit {
    std::string name;  // "write RGBA32F", ...
    double value;      // the median
    double low, high;  // over the repetitions
    std::string unit;
};

struct LimitsRequest {
    int side = 2048;  // of the square textures
    int repeat = 7;
};

// Measures every limit on the context's device.
[[nodiscard]] std::vector<Limit> measure_limits(Context& context, const LimitsRequest& request);

}  // namespace quadmill::detail::bench
