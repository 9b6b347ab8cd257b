// The inside of a Frequencies, for values of that width. A sliding window makes one, too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stream/counted_state.hpp"

namespace quadmill::detail::stream {

template <class Bits>
struct FrequenciesState final : CountedState<Bits> {
    FrequenciesState(const KeyRule<Bits>& rule, const FrequencyOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : CountedState<Bits>(rule, Counts(wanted.eps),
                             counted_window_for("Frequencies", wanted.eps, wanted.window, *sorter), std::move(sorter)) {
    }
    static std::unique_ptr<FrequenciesState> load(const KeyRule<Bits>& rule, std::span<const std::byte> bytes,
                                                  std::unique_ptr<WindowSorter> sorter);
    [[nodiscard]] std::vector<std::byte> save() override;
    [[nodiscard]] Count count(Key key);
    // As Frequencies::add() with weights.
    void add_weighted(std::span<const Bits> values, std::span<const std::uint64_t> weights);
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
