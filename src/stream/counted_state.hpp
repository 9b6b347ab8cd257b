// The insides of Frequencies and of HeavyPrefixes: lossy counts of values, or of their prefixes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/heavy_rule.hpp"
#include "stream/summary_state.hpp"

namespace quadmill::detail::stream {

// One lossy count of the whole values, or one for each length of prefixes: values that are sorted are also sorted by
// each prefix.
class Counts {
  public:
    explicit Counts(double eps, FrequencySummary of_values = {}) : Counts(eps, {64}, 64) {
        counts_.front() = std::move(of_values);
    }
    // Counts prefixes of these lengths, of values with that many bits.
    Counts(double eps, std::vector<int> lengths, unsigned bits)
        : bits_(bits), lengths_(std::move(lengths)), eps_(eps), counts_(lengths_.size()) {}

    // Adds to all lengths or, if memory runs out, to none.
    void add(const Window& sorted, StreamTimes& times, const Share& share) {
        const auto error = max_error(n() + sorted.size());
        std::vector<FrequencySummary> counts(counts_.size());
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = counts_[i].with(sorted, error, prefix_of(lengths_[i]), times, share);
        counts_ = std::move(counts);
    }
    // Merges all lengths or none, with the error that both have from then on.
    void merge(const Counts& other, double eps);
    // As Frequencies::add() with weights. Pre: counts of the whole values.
    void add(const WeightedKeys& keys);
    [[nodiscard]] std::vector<HeavyPrefix<Key>> heavy(double support, HeavyRule rule) const;

    // The counts of the shortest prefixes, or of the whole values.
    [[nodiscard]] const FrequencySummary& first() const { return counts_.front(); }
    [[nodiscard]] std::uint64_t n() const { return first().n(); }
    [[nodiscard]] double eps() const { return eps_; }
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::size_t memory() const;
    void write(Writer& to) const {
        for (const auto& count : counts_) count.write(to);
    }
    // Reads one count of whole values.
    void read(Reader& from);
    // Reads a count for each length of prefixes.
    void read_prefixes(Reader& from);

  private:
    [[nodiscard]] double max_error(std::uint64_t n) const { return eps_ * static_cast<double>(n); }
    [[nodiscard]] Prefix prefix_of(int length) const {
        return length == 0 ? Prefix{0, 0} : Prefix{bits_ - static_cast<unsigned>(length)};
    }
    [[nodiscard]] Key greatest() const { return ~Key{0} >> (64 - bits_); }

    unsigned bits_;
    std::vector<int> lengths_;
    double eps_;
    std::vector<FrequencySummary> counts_;
};

struct CountedState : WindowedState {
    CountedState(const KeyRule& rule, Counts none, std::size_t of_window, std::unique_ptr<WindowSorter>&& sorter)
        : WindowedState(rule, of_window, std::move(sorter)), counts(std::move(none)) {}

    void take(const Windows& sorted) override {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            counts.add(sorted[i], own_times, intake.share());
            with_rest.reset();
        }
    }
    // n() always counts the values that the counts have, even if memory runs out.
    std::uint64_t failed() override {
        with_rest.reset();
        return counts.n();
    }
    // The counts of all values.
    const Counts& settled();
    // What is saved. A long incomplete window is counted, a short one saved unchanged.
    std::pair<Counts, Window> compact();
    // Merges the other one, with the error that both have from then on.
    void merge(const std::string& function, CountedState& other, double eps);

    [[nodiscard]] std::size_t summary_bytes() override;
    [[nodiscard]] std::size_t bytes() override;
    [[nodiscard]] StreamTimes times() override;

    Counts counts;
    std::optional<Counts> with_rest;  // kept for answers

  protected:
    // The end of a load: the values of the incomplete window.
    void read_rest(Reader& from);
};

// The inside of a Frequencies. A sliding window makes one, too.
struct FrequenciesState final : CountedState {
    FrequenciesState(const KeyRule& rule, const FrequencyOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : CountedState(rule, Counts(wanted.eps), counted_window_for("Frequencies", wanted.eps, wanted.window, *sorter),
                       std::move(sorter)) {}
    static std::unique_ptr<FrequenciesState> load(const KeyRule& rule, std::span<const std::byte> bytes,
                                                  std::unique_ptr<WindowSorter> sorter);
    [[nodiscard]] std::vector<std::byte> save() override;
    [[nodiscard]] Count count(Key key);
    // As Frequencies::add() with weights.
    void add_weighted(const Values& values, std::span<const std::uint64_t> weights);
};

// The inside of a HeavyPrefixes.
struct HeavyPrefixesState final : CountedState {
    HeavyPrefixesState(const KeyRule& rule, const HeavyPrefixOptions& wanted, std::unique_ptr<WindowSorter> sorter);
    static std::unique_ptr<HeavyPrefixesState> load(const KeyRule& rule, std::span<const std::byte> bytes,
                                                    std::unique_ptr<WindowSorter> sorter);
    [[nodiscard]] std::vector<std::byte> save() override;
    void merge(HeavyPrefixesState& other);

    HeavyPrefixOptions options;
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
