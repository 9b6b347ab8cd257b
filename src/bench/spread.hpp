// The spread of what was measured several times.
#pragma once

#include <algorithm>
#include <vector>

namespace quadmill::detail::bench {

struct Spread {
    // Pre: there are some.
    explicit Spread(std::vector<double> values) {
        std::ranges::sort(values);
        median = values[values.size() / 2];
        low = values.front();
        high = values.back();
    }
    double median, low, high;
};

}  // namespace quadmill::detail::bench
