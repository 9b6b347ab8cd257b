// The inside of a Frequencies, for values of that width. A sliding window makes one, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/parts.hpp"

namespace quadmill::detail::stream {

template <class Bits>
struct FrequenciesState final : WindowSink<Bits> {
    FrequenciesState(const KeyRule<Bits>& rule, const FrequencyOptions& wanted, std::unique_ptr<WindowSorter> sorter);
    static std::unique_ptr<FrequenciesState> load(const KeyRule<Bits>& rule, std::span<const std::byte> bytes,
                                                  std::unique_ptr<WindowSorter> sorter);
    [[nodiscard]] std::vector<std::byte> save();

    void take(const Windows<Bits>& sorted) override;
    std::uint64_t failed() override {
        with_rest.reset();
        return summary.n();
    }
    // The summary of all values.
    const FrequencySummary& settled();
    // What is saved.
    std::pair<FrequencySummary, Window<Bits>> compact();
    [[nodiscard]] Count count(Key key);
    // As Frequencies::add() with weights.
    void add_weighted(std::span<const Bits> values, std::span<const std::uint64_t> weights);
    void merge(FrequenciesState& other);

    [[nodiscard]] std::size_t summary_bytes();
    [[nodiscard]] std::size_t bytes();
    [[nodiscard]] StreamTimes all_times();

    std::mutex mutex;  // protects queries, which settle values
    double eps;
    std::size_t window;
    Intake<Bits> intake;
    FrequencySummary summary;
    std::optional<FrequencySummary> with_rest;  // kept for answers
    StreamTimes times;                          // of the summary
};

// Every entry that may occur that often if counts may be too low by a further `missing`, most frequent first.
[[nodiscard]] std::vector<FrequencySummary::Entry> frequent_in(const FrequencySummary& summary, std::uint64_t min,
                                                               std::uint64_t missing = 0);

template <class T>
std::vector<Frequent<T>> values_of(const std::vector<FrequencySummary::Entry>& entries) {
    std::vector<Frequent<T>> out;
    out.reserve(entries.size());
    for (const auto& e : entries) out.push_back({KeyOf<T>::value(e.key), {e.count, e.count, e.count + e.missed}});
    return out;
}

}  // namespace quadmill::detail::stream
