// A summary of pairs (x, weight) by a few values of x, each with bounds of how much lies at or below it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stream/bytes.hpp"
#include "stream/key.hpp"
#include "stream/share.hpp"

namespace quadmill::detail::stream {

// Three measures of the pairs up to an x: how many there are, the sum of their positive weights, and of their negative
// ones, turned round. Entries ascend by key, no two are equal, and the first and the last are the least and the greatest
// x. For each measure an entry knows bounds of what is at most its key, and an upper bound of what is below it; so what
// is at most an x between two entries is from the `least` of the one to the `below` of the next. The widest of these
// ranges is the gap.
// Source: SIGMOD'05 section 5.4; Ananthakrishna et al., TKDE 2003: quantile summaries of both columns, here in one.
class CorrelatedSummary {
  public:
    static constexpr std::size_t measures = 3;
    enum Measure : std::size_t { Number, Positive, Negative };
    using Amounts = std::array<double, measures>;
    struct Entry {
        Key key;
        Amounts least, most, below;
    };
    struct Pair {
        Key key;
        double weight;
    };

    CorrelatedSummary() = default;
    // Of pairs that ascend by key; an amount may be off by max_error / n of its total.
    CorrelatedSummary(std::span<const Pair> sorted, double max_error);

    static CorrelatedSummary merged(const CorrelatedSummary& a, const CorrelatedSummary& b, CorrelatedSummary&& memory,
                                    const Share& share = alone);
    static CorrelatedSummary merged(const CorrelatedSummary& a, const CorrelatedSummary& b) {
        return merged(a, b, CorrelatedSummary());
    }
    void prune(double max_error, const Share& share = alone);

    [[nodiscard]] std::uint64_t n() const { return n_; }
    // In pairs; the same part of the sums.
    [[nodiscard]] double max_error() const;
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    [[nodiscard]] const Amounts& total() const { return total_; }
    [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry); }

    // Of what is at most the key: least and most.
    [[nodiscard]] std::pair<Amounts, Amounts> at_most(Key key) const;
    // Entries that are surely no greater, and no less, than the x of that rank, and the one that is surely nearest.
    struct AtRank {
        Key lower, nearest, upper;
    };
    // Pre: 1 <= rank <= n.
    [[nodiscard]] AtRank at_rank(std::uint64_t rank) const;

    void write(Writer& to) const;
    static CorrelatedSummary read(Reader& from);

  private:
    [[nodiscard]] Amounts allowed(double max_error) const;

    std::vector<Entry> entries_;
    Amounts total_{};
    std::uint64_t n_ = 0;
};

}  // namespace quadmill::detail::stream
