// What a Quantiles is made of; a sliding window makes one, too.
#pragma once

#include <cstdint>
#include <memory>
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
struct Quantiles<T>::State {
    State(const QuantileOptions& wanted, std::unique_ptr<WindowSorter> sorter);
    void take(const detail::stream::Window<T>& sorted);
    void changed();
    void settle();  // whole windows that have come are in the histogram then
    // All values, to be asked for so many ranks. Stays as it is until values come.
    detail::stream::QuantileParts settled(std::size_t ranks);

    std::size_t window;
    detail::stream::Intake<T> intake;
    detail::stream::ExponentialHistogram<detail::stream::QuantileSummary> histogram;
    // For answers, made anew where values have come since: of the values that fill no window yet, and of all.
    std::optional<detail::stream::QuantileSummary> of_rest, of_all;
    std::size_t asked = 0;  // ranks since then
    double sample_ms = 0;
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
