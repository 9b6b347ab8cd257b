// A summary of pairs (x, weight): a few values of x, each with bounds of the amounts at or below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stream/bytes.hpp"
#include "stream/exact_sum.hpp"
#include "stream/key.hpp"
#include "stream/share.hpp"

namespace quadmill::detail::stream {

// A sum of 106 bits, stored as the nearest double and the remainder. Weights are scaled down by 2^64, so that no sum of
// doubles overflows.
struct Twofold {
    double high = 0, low = 0;
    bool operator==(const Twofold&) const = default;
    static constexpr double scale = 0x1p-64;
};

// Two quantities: for positive weights, and for negative weights with inverted sign.
template <class Of>
struct BySign {
    Of positive{}, negative{};
    bool operator==(const BySign&) const = default;
};

// Three measures of the pairs up to an x: their number, and the sums of positive and of negative weights. Entries
// ascend by key without duplicates. The first and the last are the min and the max x. For each measure, an entry has
// bounds of the amount at or below its key, and an upper bound of the amount below it. So the amount at or below an x
// between two entries is between the `min` of the first and the `below` of the second. The widest of these ranges is
// the gap. A bound of the sums' rounding error is kept, too; it is 0 if all sums fit into 106 bits. Source: SIGMOD'05
// section 5.4; Ananthakrishna et al., TKDE 2003: quantile summaries of both columns, here combined.
class CorrelatedSummary {
  public:
    struct Amounts {
        std::uint64_t number = 0;
        BySign<Twofold> sums{};
        bool operator==(const Amounts&) const = default;
    };
    struct Entry {
        Key key{};
        Amounts min, max, below;
    };
    struct Pair {
        Key key;
        double weight;
    };

    CorrelatedSummary() = default;
    // Summarizes pairs in the order of their keys. An amount may be off by max_error / n of its total.
    CorrelatedSummary(std::span<const Pair> sorted, double max_error);

    static CorrelatedSummary merged(const CorrelatedSummary& a, const CorrelatedSummary& b, CorrelatedSummary&& memory,
                                    const Share& share = alone);
    void prune(double max_error, const Share& share = alone);
    void pack() {}  // a merge would unpack first

    [[nodiscard]] std::uint64_t n() const { return n_; }
    // In pairs. For the sums it is the same fraction.
    [[nodiscard]] double max_error() const;
    [[nodiscard]] bool is_exact() const { return max_error() == 0; }
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    [[nodiscard]] std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }
    [[nodiscard]] std::size_t memory() const { return bytes(); }

    // Lower and upper bounds of the amounts at or below the key.
    [[nodiscard]] std::pair<Amounts, Amounts> at_most(Key key) const;
    // Guaranteed bounds of the exact sum of these weights.
    [[nodiscard]] double min_sum(const Amounts& positive, const Amounts& negative) const;
    [[nodiscard]] double greatest_sum(const Amounts& positive, const Amounts& negative) const;
    [[nodiscard]] static double mean_sum(const Amounts& a, const Amounts& b);
    // For a rank: an entry that is certainly at most its x, one that is certainly at least its x, and the nearest one.
    struct AtRank {
        Key lower, nearest, upper;
    };
    // Pre: 1 <= rank <= n.
    [[nodiscard]] AtRank at_rank(std::uint64_t rank) const;

    void write(Writer& to) const;
    static CorrelatedSummary read(Reader& from);

  private:
    struct Gaps {
        double number, positive, negative;
    };
    [[nodiscard]] Gaps allowed(double max_error) const;
    static bool further(const Amounts& a, const Amounts& b, const Gaps& than);
    static Entry read_entry(Reader& from, const Entry& before, bool first);

    std::vector<Entry> entries_;
    Amounts total_{};
    BySign<double> lost_{};  // max rounding error of any sum, scaled like the sums
    std::uint64_t n_ = 0;
};

}  // namespace quadmill::detail::stream
