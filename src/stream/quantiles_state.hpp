// The inside of a Quantiles. A sliding window makes one, too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/parts.hpp"
#include "stream/quantile_parts.hpp"
#include "stream/quantile_summary.hpp"
#include "stream/summary_state.hpp"

namespace quadmill::detail::stream {

// Mean and spread of values. Source: Chan, Golub and LeVeque, 1979: blocks are added by their own means.
struct Sums {
    std::uint64_t n = 0;
    double mean = 0, squares = 0;  // squares: the sum of (x - mean)^2

    template <class T>
    void add(std::span<const T> values);
    void add(const Sums& block);
};

struct QuantilesState final : WindowedState {
    using Histogram = ExponentialHistogram<QuantileSummary>;
    // Whether a summary with a tail takes windows that are not sorted. For 64-bit values, a search among the entries is
    // faster than sorting. For 32-bit values it is slower. The window must have more values than the summary has
    // entries.
    [[nodiscard]] bool absorbs() const {
        constexpr double values = 128;  // for each 1 / eps
        return intake.rule().width == sizeof(Key) && !for_size && tail() != Tail::Off &&
               static_cast<double>(window) * eps() >= values;
    }

    QuantilesState(const KeyRule& rule, const QuantileOptions& wanted, std::unique_ptr<WindowSorter> sorter);
    static std::unique_ptr<QuantilesState> load(const KeyRule& rule, std::span<const std::byte> bytes,
                                                std::unique_ptr<WindowSorter> sorter);
    [[nodiscard]] std::vector<std::byte> save() override;

    // Windows are sampled as the histogram's plan allows, in the sorter if it can. Pre: no values have come.
    void plan_samples();
    void take(const Windows& sorted) override;
    void absorb(const Window& values);
    std::uint64_t failed() override {
        of_rest.reset();
        return histogram.n();
    }
    // As Quantiles::add_sample(): a sample of n values, with the keys at those values.
    void add_sample(std::uint64_t n, std::uint64_t nans, std::uint64_t step, const Values& values);
    // As Quantiles::add() with weights, except for the moments.
    void add_weighted(const Values& values, std::span<const std::uint64_t> weights);
    void merge(std::span<QuantilesState* const> others);
    // The values of the incomplete window.
    const QuantileSummary& summary_of_rest();
    // A tail is saved as one summary.
    [[nodiscard]] Histogram compacted(const Histogram& buckets, const Window& rest);
    // Calls `work` with all values, for a query of that many ranks.
    using Ask = Callable<void(const QuantileParts&)>;
    void ask(std::size_t ranks, const Ask& work);
    // Calls `work` with the state to save: the histogram, with a sample of a long incomplete window or with a short one
    // unchanged.
    using Use = Callable<void(const Histogram&, const Window&)>;
    void compact(const Use& use);

    [[nodiscard]] double eps() const override { return histogram.plan().eps; }
    [[nodiscard]] Tail tail() const { return histogram.plan().tail; }
    [[nodiscard]] std::size_t summary_bytes() override {
        intake.settle();
        histogram.settle();
        return histogram.bytes();
    }
    [[nodiscard]] std::size_t bytes() override {
        return sizeof *this + histogram.memory() + intake.bytes() + (of_rest ? of_rest->bytes() : 0);
    }
    [[nodiscard]] StreamTimes times() override { return times_of(intake.sorter(), own_times, histogram); }

    Histogram histogram;
    std::optional<QuantileSummary> of_rest;  // kept for answers until values are added
    std::optional<Sums> sums;                // if moments are kept
};

// Answers as keys.
[[nodiscard]] std::vector<Quantile<Key>> answers(const QuantileParts& summary, std::span<const double> phis);

template <class T>
[[nodiscard]] std::vector<Quantile<T>> values_of(const std::vector<Quantile<Key>>& answers) {
    std::vector<Quantile<T>> out;
    out.reserve(answers.size());
    for (const auto& a : answers) out.push_back({a.phi, KeyOf<T>::value(a.value), a.rank, a.rank_lower, a.rank_upper});
    return out;
}

}  // namespace quadmill::detail::stream
