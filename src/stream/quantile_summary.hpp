// Greenwald and Khanna's summary of many values by a few of them, each with bounds of its rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stream/bytes.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::stream {

// Entries ascend by key; the entry is one of the n values, and its rank among them (from 1) is within [rank_min,
// rank_max]. The first and the last are the least and the greatest value. The largest rank_max of an entry less the
// rank_min of the one before it is the gap; every rank has an entry that is at most half a gap away.
// Source: Greenwald and Khanna, PODS 2004; SIGMOD'05 section 5.2.
class QuantileSummary {
  public:
    struct Entry {
        Key key;
        std::uint64_t rank_min, rank_max;
    };

    QuantileSummary() = default;
    // Of a sorted window: the ranks 1, 1 + step, 1 + 2 step, ... and the last, so that no rank is further than
    // `max_error` from one (section 5.2).
    template <class T>
    static QuantileSummary of(const Window<T>& sorted, double max_error) {
        QuantileSummary summary;
        summary.n_ = sorted.size();
        if (summary.n_ == 0) return summary;
        const auto step = static_cast<std::size_t>(gap_for(max_error));
        summary.entries_.reserve((sorted.size() - 1) / step + 2);
        for (std::size_t i = 0; i + 1 < sorted.size(); i += step) summary.entries_.push_back({sorted[i], i + 1, i + 1});
        summary.entries_.push_back({sorted[sorted.size() - 1], summary.n_, summary.n_});
        summary.gap_ = summary.measured_gap();
        return summary;
    }

    // Of both inputs together: the gap is the sum of both, less one.
    static QuantileSummary merged(const QuantileSummary& a, const QuantileSummary& b);
    // Keeps as few entries as it can such that max_error() stays at most that; `compress` of the papers.
    void prune(double max_error);

    [[nodiscard]] std::uint64_t n() const { return n_; }
    // Ranks that an answer may be off, at most.
    [[nodiscard]] std::uint64_t max_error() const { return gap_ / 2; }
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry); }

    // The entry whose rank is surely nearest to that. Pre: 1 <= rank <= n.
    [[nodiscard]] const Entry& at_rank(std::uint64_t rank) const;
    // How many values are at most (below) the key.
    [[nodiscard]] Bounds count_at_most(Key key) const;
    [[nodiscard]] Bounds count_below(Key key) const;

    void write(Writer& to) const;
    static QuantileSummary read(Reader& from);

  private:
    static std::uint64_t gap_for(double max_error);
    [[nodiscard]] std::uint64_t measured_gap() const;

    std::vector<Entry> entries_;
    std::uint64_t n_ = 0, gap_ = 1;
};

}  // namespace quadmill::detail::stream
