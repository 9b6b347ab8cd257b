// The state of a Quantiles. A sliding window makes one, too.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/parts.hpp"
#include "stream/quantile_parts.hpp"
#include "stream/quantile_summary.hpp"

namespace quadmill {

template <class T>
struct Quantiles<T>::State final : detail::stream::WindowSink<T> {
    using Histogram = detail::stream::ExponentialHistogram<detail::stream::QuantileSummary>;

    State(const QuantileOptions& wanted, std::unique_ptr<WindowSorter> sorter);
    // Windows are sampled as the histogram's plan allows, in the sorter if it can. Pre: no values have come.
    void plan_samples();
    void take(const detail::stream::Windows<T>& sorted) override;
    std::uint64_t failed() override {
        of_rest.reset();
        return histogram.n();
    }
    // Calls `work` with all values, for a query of that many ranks.
    template <class Ask>
    auto ask(std::size_t ranks, Ask ask);
    // Calls `work` with the state to save: the histogram, with a sample of a long incomplete window or with a short one
    // unchanged.
    template <class Use>
    auto compact(Use use);

    std::mutex mutex;  // protects queries, which settle values
    std::size_t window;
    detail::stream::Intake<T> intake;
    Histogram histogram;
    std::optional<detail::stream::QuantileSummary> of_rest;  // kept for answers until values are added
    StreamTimes times;                                       // without those of the histogram
};

namespace detail::stream {

template <class T>
std::vector<Quantile<T>> answers(const QuantileParts& summary, std::span<const double> phis) {
    std::vector<Quantile<T>> out;
    for (const double phi : phis) {
        const auto rank = rank_of(phi, summary.n());
        const auto entry = summary.at_rank(rank);
        out.push_back({phi, KeyOf<T>::value(entry.key), rank, entry.rank_min, entry.rank_max});
    }
    return out;
}

}  // namespace detail::stream
}  // namespace quadmill
