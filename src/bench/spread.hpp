// The spread of repeated measurements.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace quadmill::detail::bench {

struct Spread {
    // Pre: `values` is not empty.
    explicit Spread(std::vector<double> values) {
        std::ranges::sort(values);
        median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
        low = values.front();
        high = values.back();
    }
    // Stores the three numbers as times in milliseconds.
    template <class Times>
    void note_in(Times& times) const {
        times.ms = median;
        times.low_ms = low;
        times.high_ms = high;
    }

    double median, low, high;
};

// The spread of one part of each run.
template <class Run, class Of>
[[nodiscard]] Spread spread_of(const std::vector<Run>& runs, const Of& of) {
    std::vector<double> values;
    values.reserve(runs.size());
    for (const auto& run : runs) values.push_back(std::invoke(of, run));
    return Spread(std::move(values));
}

// The run with the median of that part. Sorts the runs by it.
template <class Run, class Of>
[[nodiscard]] Run& middle_run(std::vector<Run>& runs, const Of& of) {
    std::ranges::sort(runs, {}, of);
    return runs[runs.size() / 2];
}

}  // namespace quadmill::detail::bench
