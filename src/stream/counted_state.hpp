// What the insides of Frequencies and HeavyPrefixes have in common: lossy counts of values, or of their prefixes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/heavy_rule.hpp"
#include "stream/parts.hpp"
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
    template <class Bits>
    void add(const Window<Bits>& sorted, StreamTimes& times, const Share& share) {
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

template <class Bits>
struct CountedState : SummaryState, WindowSink<Bits> {
    CountedState(const KeyRule<Bits>& rule, Counts none, std::size_t of_window, std::unique_ptr<WindowSorter>&& sorter)
        : window(of_window), intake(rule, std::move(sorter), window, *this), counts(std::move(none)) {}

    void take(const Windows<Bits>& sorted) override {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            counts.add(sorted[i], times_of_counts, intake.share());
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
    std::pair<Counts, Window<Bits>> compact();
    // Merges the other one, with the error that both have from then on.
    void merge(const std::string& function, CountedState& other, double eps);

    [[nodiscard]] std::uint64_t n() const override { return intake.n(); }
    [[nodiscard]] std::uint64_t nans() const override { return intake.nans(); }
    [[nodiscard]] std::size_t summary_bytes() override;
    [[nodiscard]] std::size_t bytes() override;
    [[nodiscard]] StreamTimes times() override;

    std::mutex mutex;  // protects queries, which settle values
    std::size_t window;
    Intake<Bits> intake;
    Counts counts;
    std::optional<Counts> with_rest;  // kept for answers
    StreamTimes times_of_counts;

  protected:
    // The end of a load: the values of the incomplete window.
    void read_rest(Reader& from);
};

}  // namespace quadmill::detail::stream
