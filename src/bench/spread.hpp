// The spread of what was measured several times.
#pragma once

#include <algorithm>
#include <vector>

namespace quadmill::detail::bench {

struct Spread {
    // Pre: there are some.
    explicit Spread(std::vector<double> values) {
        std::ranges::sort(values);
        median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
        low = values.front();
        high = values.back();
    }
    // As the milliseconds of what was timed.
    template <class Times>
    void note_in(Times& times) const {
        times.ms = median;
        times.low_ms = low;
        times.high_ms = high;
    }

    double median, low, high;
};

}  // namespace quadmill::detail::bench
