// Several summaries asked as one: what their sum would answer, without merging them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stream/quantile_summary.hpp"

namespace quadmill::detail::stream {

// The entries of all parts, in the order in which merging one after the other would put them: of equal keys those of
// earlier parts come first. The bounds of an entry's rank are those in the sum, too: an entry has as many more before
// it as each other part has before it. Every rank has an entry that is at most the sum of the parts' errors away.
// Pre: there is at least one value; the parts stay where they are.
class QuantileParts {
  public:
    using Entry = QuantileSummary::Entry;

    explicit QuantileParts(std::vector<const QuantileSummary*> parts);

    [[nodiscard]] std::uint64_t n() const { return n_; }
    [[nodiscard]] std::size_t size() const { return size_; }  // entries
    [[nodiscard]] Key least() const;
    [[nodiscard]] Key greatest() const;
    // The entry whose rank is surely nearest to that. Pre: 1 <= rank <= n.
    // Units: with p parts of e entries at most, some 64 p log2(e) reads, fewer where keys have fewer bits.
    [[nodiscard]] Entry at_rank(std::uint64_t rank) const;
    // How many values are at most the key.
    [[nodiscard]] Bounds count_at_most(Key key) const;

  private:
    using Places = std::vector<std::size_t>;  // in each part, of the first entry that comes after a place of the sum

    // Before the first entry whose rank_max is above that.
    [[nodiscard]] Places places_at(std::uint64_t rank) const;
    [[nodiscard]] std::uint64_t ranks_after(std::size_t part, std::size_t place) const;
    // The part whose entry is next, or was last; none at the end, or the beginning.
    [[nodiscard]] std::size_t next(const Places& at) const;
    [[nodiscard]] std::size_t last(const Places& at) const;
    // The entry that is next in that part, with its bounds among all.
    [[nodiscard]] Entry entry(const Places& at, std::size_t part) const;

    std::vector<const QuantileSummary*> parts_;
    std::uint64_t n_ = 0;
    std::size_t size_ = 0;
};

}  // namespace quadmill::detail::stream
