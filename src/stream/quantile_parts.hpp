// Several summaries seen as one: gives the answers of their sum without merging them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stream/quantile_summary.hpp"

namespace quadmill::detail::stream {

// The entries of all parts in the order of a merge; equal keys are in the order of the parts. Rank bounds add up: each
// other part adds its number of values before an entry. For every rank there is an entry within the sum of the parts'
// errors.
// Pre: there is at least one value; the parts outlive this object.
class QuantileParts {
  public:
    using Entry = QuantileSummary::Entry;

    explicit QuantileParts(std::vector<const QuantileSummary*> parts);

    [[nodiscard]] std::uint64_t n() const { return n_; }
    [[nodiscard]] std::size_t size() const { return size_; }  // number of entries
    [[nodiscard]] Key min() const {
        auto min = ~Key{0};
        for (const auto* part : parts_) min = std::min(min, part->key(0));
        return min;
    }
    [[nodiscard]] Key greatest() const {
        Key greatest = 0;
        for (const auto* part : parts_) greatest = std::max(greatest, part->key(part->size() - 1));
        return greatest;
    }
    // The entry whose rank is certainly nearest to that rank. Pre: 1 <= rank <= n. Cost: with p parts of up to e
    // entries, about 64 p log2(e) reads; fewer for shorter keys.
    [[nodiscard]] Entry at_rank(std::uint64_t rank) const;
    [[nodiscard]] Bounds count_at_most(Key key) const;

  private:
    using Places = std::vector<std::size_t>;  // for each part, the index of its first entry after a position of the sum

    [[nodiscard]] std::uint64_t ranks_after(std::size_t part, std::size_t index) const;
    // The part that has the previous entry; none at the beginning.
    [[nodiscard]] std::size_t last(const Places& at) const;
    // The next entry of that part, with its rank bounds among all values.
    [[nodiscard]] Entry entry(const Places& at, std::size_t part) const;

    std::vector<const QuantileSummary*> parts_;
    std::uint64_t n_ = 0;
    std::size_t size_ = 0;
};

}  // namespace quadmill::detail::stream
