// The state of a Frequencies. A sliding window makes one, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/parts.hpp"

namespace quadmill {

template <class T>
struct Frequencies<T>::State final : detail::stream::WindowSink<T> {
    State(const FrequencyOptions& wanted, std::unique_ptr<WindowSorter> sorter);
    void take(const detail::stream::Windows<T>& sorted) override;
    std::uint64_t failed() override {
        with_rest.reset();
        return summary.n();
    }
    // The summary of all values.
    const detail::stream::FrequencySummary& settled();
    // What is saved.
    std::pair<detail::stream::FrequencySummary, detail::stream::Window<T>> compact();

    std::mutex mutex;  // protects queries, which settle values
    double eps;
    std::size_t window;
    detail::stream::Intake<T> intake;
    detail::stream::FrequencySummary summary;
    std::optional<detail::stream::FrequencySummary> with_rest;  // kept for answers
    StreamTimes times;                                          // of the summary
};

namespace detail::stream {

// Every key that may occur that often if counts may be too low by a further `missed`.
template <class T>
std::vector<Frequent<T>> frequent_of(const FrequencySummary& summary, std::uint64_t min, std::uint64_t missing = 0) {
    std::vector<Frequent<T>> out;
    for (const auto& entry : summary.entries()) {
        const auto upper = entry.count + entry.missed + missing;
        if (upper >= min) out.push_back({KeyOf<T>::value(entry.key), {entry.count, entry.count, upper}});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.count.estimate > b.count.estimate; });
    return out;
}

}  // namespace detail::stream
}  // namespace quadmill
