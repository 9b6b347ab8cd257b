// Greenwald and Khanna's summary of many values by a few of them, each with bounds of its rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stream/bytes.hpp"
#include "stream/key.hpp"
#include "stream/uncleared.hpp"

namespace quadmill::detail::stream {

// Entries ascend by key; the entry is one of the n values, and its rank among them (from 1) is within [rank_min,
// rank_max]. The first and the last are the least and the greatest value. The largest rank_max of an entry less the
// rank_min of the one before it is the gap; every rank has an entry that is at most half a gap away. With a gap of 1,
// all n values are there, and no ranks need be kept.
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
        summary.sample(sorted.size(), gap_for(max_error), [&](std::uint64_t i) { return sorted[i]; });
        return summary;
    }

    // Of both inputs together: the gap is at most the sum of both, less one. Takes the memory of a summary that is no
    // longer needed: to clear new memory takes the system longer than to merge.
    static QuantileSummary merged(const QuantileSummary& a, const QuantileSummary& b, QuantileSummary&& memory);
    static QuantileSummary merged(const QuantileSummary& a, const QuantileSummary& b) {
        return merged(a, b, QuantileSummary());
    }
    // Drops entries while max_error() stays at most that, where it is worth it; `compress` of the papers. Of n values
    // there stay at most n / (2 max_error - the gap so far), and two.
    void prune(double max_error);

    [[nodiscard]] std::uint64_t n() const { return n_; }
    // Ranks that an answer may be off, at most.
    [[nodiscard]] std::uint64_t max_error() const { return gap_ / 2; }
    [[nodiscard]] std::size_t size() const { return keys_.size(); }
    [[nodiscard]] Entry entry(std::size_t i) const {
        return is_exact() ? Entry{keys_[i], i + 1, i + 1} : Entry{keys_[i], ranks_[i].min, ranks_[i].max};
    }
    [[nodiscard]] std::size_t bytes() const { return keys_.size() * sizeof(Key) + ranks_.size() * sizeof(Ranks); }

    // The entry whose rank is surely nearest to that. Pre: 1 <= rank <= n.
    [[nodiscard]] Entry at_rank(std::uint64_t rank) const;
    // How many values are at most the key.
    [[nodiscard]] Bounds count_at_most(Key key) const;

    void write(Writer& to) const;
    static QuantileSummary read(Reader& from);

  private:
    struct Ranks {
        std::uint64_t min, max;
    };
    template <class T>
    using List = std::vector<T, Uncleared<T>>;
    struct Exact;    // the ranks of a summary of all its values
    struct Bounded;  // and of another

    static std::uint64_t gap_for(double max_error);
    [[nodiscard]] bool is_exact() const { return gap_ == 1; }
    // Of n keys in order.
    template <class At>
    void sample(std::uint64_t n, std::uint64_t step, At at) {
        n_ = n;
        if (n == 0) return;
        gap_ = std::min(step, std::max<std::uint64_t>(n - 1, 1));
        const auto count = static_cast<std::size_t>((n - 2 + gap_) / gap_ + 1);
        keys_.resize(n == 1 ? 1 : count);
        if (!is_exact()) ranks_.resize(keys_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const auto rank = i + 1 < keys_.size() ? i * gap_ + 1 : n;
            keys_[i] = at(rank - 1);
            if (!is_exact()) ranks_[i] = {rank, rank};
        }
    }
    template <class RanksA, class RanksB>
    void merge(const QuantileSummary& a, const QuantileSummary& b);
    void merge_exactly(const QuantileSummary& a, const QuantileSummary& b);

    List<Key> keys_;
    List<Ranks> ranks_;  // none where is_exact()
    std::uint64_t n_ = 0, gap_ = 1;
};

}  // namespace quadmill::detail::stream
