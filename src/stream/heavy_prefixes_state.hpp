// The inside of a HeavyPrefixes, for values of that width.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/heavy_rule.hpp"
#include "stream/parts.hpp"

namespace quadmill::detail::stream {

// One lossy count per length. Values that are sorted are also sorted by each prefix.
class PrefixLevels {
  public:
    // Values have that many bits.
    PrefixLevels(const HeavyPrefixOptions& options, unsigned bits)
        : bits_(bits), lengths_(options.lengths), eps_(each_eps(options)), counts_(lengths_.size()) {}

    // Adds to all lengths or, if memory runs out, to none.
    template <class Bits>
    void add(const Window<Bits>& sorted, StreamTimes& times) {
        const auto error = max_error(n() + sorted.size());
        std::vector<FrequencySummary> counts(counts_.size());
        for (std::size_t i = 0; i < counts.size(); ++i) {
            counts[i] = counts_[i].with(
                sorted, error, [this, length = lengths_[i]](Key key) { return prefix(key, length); }, times);
        }
        counts_ = std::move(counts);
    }
    // Merges all lengths or none. From then on the options are those of both.
    void merge(const PrefixLevels& other, const HeavyPrefixOptions& options);
    [[nodiscard]] std::vector<HeavyPrefix<Key>> heavy(double support, HeavyRule rule) const;

    [[nodiscard]] std::uint64_t n() const { return counts_.front().n(); }
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::size_t memory() const;
    void write(Writer& to) const {
        for (const auto& count : counts_) count.write(to);
    }
    void read(Reader& from);

  private:
    [[nodiscard]] double max_error(std::uint64_t n) const { return eps_ * static_cast<double>(n); }
    [[nodiscard]] Key prefix(Key key, int length) const {
        return length == 0 ? 0 : key >> (bits_ - static_cast<unsigned>(length));
    }
    // The first value with that prefix.
    [[nodiscard]] Key first_of(Key prefix, int length) const {
        return length == 0 ? 0 : prefix << (bits_ - static_cast<unsigned>(length));
    }
    [[nodiscard]] Key greatest() const { return ~Key{0} >> (64 - bits_); }

    unsigned bits_;
    std::vector<int> lengths_;
    double eps_;
    std::vector<FrequencySummary> counts_;
};

template <class Bits>
struct HeavyPrefixesState final : WindowSink<Bits> {
    HeavyPrefixesState(const KeyRule<Bits>& rule, const HeavyPrefixOptions& wanted,
                       std::unique_ptr<WindowSorter> sorter);
    static std::unique_ptr<HeavyPrefixesState> load(const KeyRule<Bits>& rule, std::span<const std::byte> bytes,
                                                    std::unique_ptr<WindowSorter> sorter);
    [[nodiscard]] std::vector<std::byte> save();

    void take(const Windows<Bits>& sorted) override;
    // n() always counts the values that the counts have, even if memory runs out.
    std::uint64_t failed() override {
        with_rest.reset();
        return levels.n();
    }
    const PrefixLevels& settled();
    // What is saved. A long incomplete window is counted, a short one saved unchanged.
    std::pair<PrefixLevels, Window<Bits>> compact();
    void merge(HeavyPrefixesState& other);

    std::mutex mutex;  // protects queries, which settle values
    HeavyPrefixOptions options;
    std::size_t window;
    Intake<Bits> intake;
    PrefixLevels levels;
    std::optional<PrefixLevels> with_rest;  // kept for answers
    StreamTimes times;                      // of the summary
};

}  // namespace quadmill::detail::stream
