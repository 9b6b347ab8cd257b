// Greenwald and Khanna's summary: a few of many values, each with bounds of its rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cpu/uncleared.hpp"
#include "stream/bytes.hpp"
#include "stream/key.hpp"
#include "stream/share.hpp"

namespace quadmill::detail::stream {

// How far apart ranks of consecutive entries may be. Between an entry with rank_min a and one with rank_max b, a rank
// is at most k = (b - a) / 2 from the nearer entry. With a tail, k <= error * d must hold, where d = a + k for the low
// end, and n + 1 - b + k for the high end. If two summaries keep that rule, so does their merged summary, with the
// larger error of both: k and d are sums of those of the inputs, or k is less.
class Reach {
  public:
    Reach(Tail tail, double max_error, std::uint64_t n);
    // The largest allowed rank_max of the next entry.
    [[nodiscard]] std::uint64_t operator()(std::uint64_t min) const {
        if (tail_ == Tail::Off) return min + gap_;
        auto k = ~std::uint64_t{0};
        if (tail_ != Tail::High) k = static_cast<std::uint64_t>(low_ * static_cast<double>(min));
        if (tail_ != Tail::Low) k = std::min(k, static_cast<std::uint64_t>(high_ * static_cast<double>(n_ - min)));
        return min + 2 * k + 1;
    }
    [[nodiscard]] bool has_tail() const { return tail_ != Tail::Off; }
    // Whether pruning a summary with that error may drop many of its entries.
    [[nodiscard]] bool worth_pruning(double error, std::uint64_t gap, std::size_t size) const;

  private:
    Tail tail_;
    std::uint64_t n_, gap_;
    double error_, low_, high_;
};

// Entries are in the order of their keys. An entry is one of the n values, and its rank among them (counted from 1) is
// within [rank_min, rank_max]. The first and the last are the min and the max value. The gap is the max of rank_max of
// an entry minus rank_min of the previous one. Every rank has an entry at most half a gap away. A sample at equal steps
// needs no ranks: its step is the gap, entry i has the rank i * gap + 1, and the last one n. A gap of 1 means that all
// n values are kept. With a tail, gaps are bounded by the distance from an end, see Reach. Source: Greenwald
// and Khanna, PODS 2004; SIGMOD'05 section 5.2.
class QuantileSummary {
  public:
    struct Entry {
        Key key;
        std::uint64_t rank_min, rank_max;
    };

    QuantileSummary() = default;
    // Samples ranks 1, 1 + step, 1 + 2 step, ... and the last one of a sorted window, so that every rank is within
    // `max_error` of a sampled one (section 5.2). With a tail, max_error is that of the rank most distant from the end.
    static QuantileSummary of(const Window& sorted, double max_error, const Share& share = alone,
                              Tail tail = Tail::Off) {
        const auto at = [sorted](std::uint64_t i) { return sorted[static_cast<std::size_t>(i)]; };
        return of_keys(sorted.size(), at, max_error, share, tail);
    }
    // Samples n keys at(0), at(1), ... as above.
    template <class At>
    static QuantileSummary of_keys(std::uint64_t n, At at, double max_error, const Share& share, Tail tail) {
        QuantileSummary summary;
        if (tail != Tail::Off && max_error > 0) {
            summary.sample_tail(n, max_error, tail, at);
        } else {
            summary.sample(n, gap_for(max_error), at, share);
            summary.tail_ = tail;
        }
        return summary;
    }

    // A sample of n values at equal steps that was taken elsewhere. Pre: 1 <= step < n, or both are 1.
    static QuantileSummary of_sample(std::uint64_t n, std::uint64_t step, const Window& sample,
                                     const Share& share = alone) {
        QuantileSummary summary;
        const auto at = [&](std::uint64_t i) { return sample[static_cast<std::size_t>((i + step - 1) / step)]; };
        summary.sample(n, step, at, share);
        return summary;
    }
    // Number of values in such a sample.
    static std::uint64_t steps(std::uint64_t n, std::uint64_t gap) { return n < 2 ? n : (n - 2 + gap) / gap + 1; }
    // An error of e ranks allows a gap of 2 e; the min is 1.
    static std::uint64_t gap_for(double max_error);

    // The summary of both inputs together. Its gap is at most the sum of both gaps minus one. Reuses the memory of an
    // old summary, because the system takes longer to clear new memory than the merge takes.
    static QuantileSummary merged(const QuantileSummary& a, const QuantileSummary& b, QuantileSummary&& memory,
                                  const Share& share = alone);
    // The summary of all inputs together, pruned once to that error if it is worthwhile. Each entry is moved
    // log2(inputs) times, in 16 bytes. Pre: there is an input; all have the same tail.
    static QuantileSummary merged(std::span<const QuantileSummary* const> parts, double max_error);
    // Adds the values of a window, which may be in any order. Entries count exactly the values before them. Values of
    // the window become entries only beyond both ends, and where ranks would otherwise be farther apart than the error
    // of n() permits. False if that took too many entries: many values between two entries get only the bounds of both.
    // Then, and if it throws, nothing is changed. Pre: max_error() is within that error, a fraction of the distance
    // from the end.
    [[nodiscard]] bool absorb(const Window& window, double error, Tail tail, const Share& share);
    // Drops entries while max_error() stays within that bound, if it is worthwhile; the papers' `compress`. At most n /
    // (2 max_error - current gap) entries stay, plus two, plus one per shared_piece entries.
    void prune(double max_error, const Share& share = alone);

    [[nodiscard]] std::uint64_t n() const { return n_; }
    // Max error of an answer in ranks; with a tail, at the rank most distant from the end.
    [[nodiscard]] std::uint64_t max_error() const {
        return tail_ == Tail::Off ? gap_ / 2 : static_cast<std::uint64_t>(error_ * static_cast<double>(n_));
    }
    [[nodiscard]] std::size_t size() const { return keys_.size() + short_keys_.size(); }
    [[nodiscard]] Entry entry(std::size_t i) const {
        const auto ranks = ranks_of(i);
        return {key(i), ranks.min, ranks.max};
    }
    [[nodiscard]] Key key(std::size_t i) const { return short_keys_.empty() ? keys_[i] : base_ + short_keys_[i]; }
    // The first entry in [from, to) whose key is above that key.
    [[nodiscard]] std::size_t above(Key key, std::size_t from, std::size_t to) const {
        return first_not(from, to, [&](std::size_t i) { return this->key(i) <= key; });
    }
    [[nodiscard]] std::size_t above(Key key) const { return above(key, 0, size()); }
    [[nodiscard]] std::size_t bytes() const { return bytes_of(std::identity()); }
    [[nodiscard]] std::size_t memory() const { return for_size ? bytes() : bytes_of(cpu::held_bytes); }
    // Halves the memory. Answers are as fast, but merging or pruning unpacks first. Long summaries are not packed,
    // because packing would cost more than it saves.
    void pack();
    // True if nothing was dropped; then all ranks are exact.
    [[nodiscard]] bool is_exact() const { return gap_ == 1; }

    void write(Writer& to) const;
    static QuantileSummary read(Reader& from, Tail tail = Tail::Off);

  private:
    struct Ranks {
        std::uint64_t min, max;
        bool operator==(const Ranks&) const = default;
    };
    template <class T>
    using List = std::vector<T, cpu::Uncleared<T>>;
    // The ranks of a sample at equal steps.
    struct Stepped {
        explicit Stepped(const QuantileSummary& of) : gap(of.gap_), n(of.n_) {}
        Ranks operator()(std::size_t i) const {
            const auto rank = std::min(i * gap + 1, n);
            return {rank, rank};
        }
        std::uint64_t gap, n;
    };

    struct ShortRanks {
        std::uint32_t min, more;  // the smallest rank, and the difference to the largest one
    };
    [[nodiscard]] std::size_t bytes_of(const auto& block) const {
        return block(keys_.capacity() * sizeof(Key)) + block(ranks_.capacity() * sizeof(Ranks)) +
               block(short_keys_.capacity() * sizeof(std::uint32_t)) +
               block(short_ranks_.capacity() * sizeof(ShortRanks));
    }
    void unpack();
    [[nodiscard]] bool is_packed() const { return !short_keys_.empty() || !short_ranks_.empty(); }
    [[nodiscard]] bool is_stepped() const { return ranks_.empty() && short_ranks_.empty(); }
    [[nodiscard]] Ranks ranks_of(std::size_t i) const {
        if (is_stepped()) return Stepped(*this)(i);
        if (short_ranks_.empty()) return ranks_[i];
        return {short_ranks_[i].min, std::uint64_t{short_ranks_[i].min} + short_ranks_[i].more};
    }
    template <class At>
    void sample(std::uint64_t n, std::uint64_t step, At at, const Share& share) {
        n_ = n;
        if (n == 0) return;
        gap_ = std::min(step, std::max<std::uint64_t>(n - 1, 1));
        keys_.resize(static_cast<std::size_t>(steps(n, gap_)));
        share_pieces(share, keys_.size(), [&](std::size_t /*piece*/, std::size_t begin, std::size_t end) {
            const auto key_at = at;  // in registers
            for (auto i = begin; i < end; ++i) keys_[i] = key_at(Stepped(*this)(i).min - 1);
        });
    }
    template <class At>
    void sample_tail(std::uint64_t n, double max_error, Tail tail, At at) {
        n_ = n;
        tail_ = tail;
        if (n == 0) return;
        const Reach reach(tail, max_error, n);
        error_ = max_error / static_cast<double>(n);
        for (std::uint64_t rank = 1;; rank = std::min(reach(rank), n)) {
            keys_.push_back(at(rank - 1));
            ranks_.push_back({rank, rank});
            if (ranks_.size() > 1) gap_ = std::max(gap_, rank - ranks_[ranks_.size() - 2].min);
            if (rank == n) break;
        }
        if (keys_.size() < n) return;
        ranks_.clear();  // all values are kept
        error_ = 0;
    }
    template <class Rank>
    class Walk;
    class Cells;
    std::uint64_t merge_piece(const QuantileSummary& a, const auto& ranks_a, const QuantileSummary& b,
                              const auto& ranks_b, std::size_t begin, std::size_t end);
    void merge_exactly(const QuantileSummary& a, const QuantileSummary& b, const Share& share);
    std::uint64_t prune_piece(std::size_t begin, std::size_t end, const Reach& reach, std::size_t& count);
    void read_ranks(Reader& from);
    template <class Work>
    static std::uint64_t largest(const Share& share, std::size_t size, const Work& work);

    List<Key> keys_;
    List<Ranks> ranks_;  // empty for a sample at equal steps
    // Packed form, if the keys fit: differences to the first key.
    List<std::uint32_t> short_keys_;
    List<ShortRanks> short_ranks_;
    Key base_ = 0;
    std::uint64_t n_ = 0, gap_ = 1;
    Tail tail_ = Tail::Off;
    double error_ = 0;  // with a tail, a bound of k / d
};

}  // namespace quadmill::detail::stream
