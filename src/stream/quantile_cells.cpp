// Adds windows to a summary with a tail without sorting them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "cpu/numbers.hpp"
#include "stream/quantile_summary.hpp"

namespace quadmill::detail::stream {

// The values of a window by cell: those below the first entry of a summary, those from it on and below the next one,
// and so on; the last cell has those from the last entry on.
class QuantileSummary::Cells {
  public:
    Cells(const List<Key>& ends, const Window& window, const Share& share)
        : window_(window), last_(ends.size()), cell_of_(window.size()) {
        // All searches take the same steps: 2^steps - 1 ends, of which those that are missing are the greatest key.
        steps_.resize(std::bit_ceil(ends.size() + 1) - 1, std::numeric_limits<Key>::max());
        std::ranges::copy(ends, steps_.begin());
        piece_ = std::max(piece_, 8 * last_);  // so that adding up the counts takes less than the searches
        const auto pieces = (window.size() + piece_ - 1) / piece_;
        counts_.assign(pieces * (last_ + 1), 0);
        share(pieces, [&](std::size_t i) { find(i); });
        for (std::size_t i = 1; i < pieces; ++i) {
            for (std::size_t cell = 0; cell <= last_; ++cell) counts_[cell] += counts_[i * (last_ + 1) + cell];
        }
    }
    [[nodiscard]] std::size_t count(std::size_t cell) const { return counts_[cell]; }
    // The keys in those cells, in order. `is_taken` has 1 for each of these cells.
    [[nodiscard]] List<Key> sorted(const std::vector<std::uint8_t>& is_taken) const {
        std::size_t size = 0;
        for (std::size_t cell = 0; cell <= last_; ++cell) size += is_taken[cell] != 0 ? counts_[cell] : 0;
        List<Key> keys;
        keys.reserve(size);
        for (std::size_t i = 0; i < window_.size(); ++i) {
            if (is_taken[cell_of_[i]] != 0) keys.push_back(window_[i]);
        }
        cpu::sort_numbers(std::span(keys));
        return keys;
    }

  private:
    static constexpr std::size_t lanes = 8;

    void find(std::size_t i) {
        const auto end = std::min((i + 1) * piece_, window_.size());
        auto* const counts = counts_.data() + i * (last_ + 1);
        auto at = i * piece_;
        for (; at + lanes <= end; at += lanes) search<lanes>(at, counts);
        for (; at < end; ++at) search<1>(at, counts);
    }
    // Searches for several values at a time, because each step of a search waits for the one before. A step is as
    // likely to go up as not, so no step should be a branch.
    template <std::size_t count>
    void search(std::size_t at, std::uint32_t* counts) {
        std::array<Key, count> keys;
        std::array<const Key*, count> ends;
        for (std::size_t k = 0; k < count; ++k) keys[k] = window_[at + k];
        ends.fill(steps_.data());
        for (auto step = (steps_.size() + 1) / 2; step > 0; step /= 2) {
            for (std::size_t k = 0; k < count; ++k) {
                const auto* const next = ends[k] + step;
                ends[k] = __builtin_expect_with_probability(next[-1] <= keys[k], 1, 0.5) != 0 ? next : ends[k];
            }
        }
        for (std::size_t k = 0; k < count; ++k) {
            const auto cell = std::min(static_cast<std::size_t>(ends[k] - steps_.data()), last_);
            cell_of_[at + k] = static_cast<std::uint32_t>(cell);
            ++counts[cell];
        }
    }

    const Window& window_;
    std::size_t last_, piece_ = std::size_t{1} << 13U;  // a piece: values that a thread takes
    List<Key> steps_;
    List<std::uint32_t> cell_of_;
    std::vector<std::uint32_t> counts_;  // of each piece; then the first ones are those of the window
};

// In a cell between entries with rank_min a and rank_max b (before), the j-th value of the window has a rank from a + j
// to b - 1 + j, plus the values of the window before the cell. Values that equal the first entry come right after it. A
// cell that gets no entries keeps the rule of Reach if its ranks are near enough; one that gets all its values keeps it
// in any case, as a merged summary does. The ends of a cell become entries, so that the cells next to it get no farther
// apart, and those between are half as far apart as they may be, if they can: values to come may need entries between
// them.
bool QuantileSummary::absorb(const Window& window, double error, Tail tail, const Share& share) {
    if (window.size() == 0) return true;
    unpack();
    const Cells cells(keys_, window, share);
    const auto last = size(), n = n_ + window.size();
    const auto all = static_cast<double>(n);
    const Reach reach(tail, error * all, n), near(tail, error / 2 * all, n);
    std::vector<std::uint8_t> is_taken(last + 1);
    List<Ranks> ranks;
    ranks.resize(last + 1);
    std::uint64_t before = 0;
    for (std::size_t i = 0; i <= last; ++i) {
        before += cells.count(i);
        ranks[i] = i < last ? Ranks{ranks_of(i).min + before, ranks_of(i).max + before} : Ranks{n + 1, n + 1};
        is_taken[i] = cells.count(i) > 0 && (i == 0 || i == last || ranks[i].max > reach(ranks[i - 1].min)) ? 1 : 0;
    }
    const auto more = cells.sorted(is_taken);
    QuantileSummary sum;
    sum.keys_.reserve(last);
    sum.ranks_.reserve(last);
    sum.n_ = n;
    sum.tail_ = tail;
    sum.error_ = std::max(error_, error);
    std::uint64_t min = 0;  // of the entry before
    const auto keep = [&](Key key, const Ranks& of) {
        sum.keys_.push_back(key);
        sum.ranks_.push_back(of);
        if (min > 0) sum.gap_ = std::max(sum.gap_, of.max - min);
        min = of.min;
    };
    const auto* keys = more.data();
    for (std::size_t i = 0; i <= last; ++i) {
        const auto count = is_taken[i] != 0 ? cells.count(i) : 0;
        const auto a = min, b = ranks[i].max - count - 1, a_max = i > 0 ? ranks[i - 1].max : 0;
        const auto same =
            i > 0 ? static_cast<std::size_t>(std::upper_bound(keys, keys + count, keys_[i - 1]) - keys) : 0;
        const auto up_to = [&](std::uint64_t max) {  // the last value whose rank_max is at most that
            const auto past = saturating_sub(max, b), equal = std::min<std::uint64_t>(saturating_sub(max, a_max), same);
            return past > same ? past : equal;
        };
        for (std::size_t j = 0; j < count;) {
            auto next = j == 0 ? 1 : up_to(near(min));
            if (next <= j) next = up_to(reach(min));
            j = static_cast<std::size_t>(std::clamp<std::uint64_t>(next, j + 1, count));
            keep(keys[j - 1], {a + j, (j <= same ? a_max : b) + j});
        }
        keys += count;
        if (i < last) keep(keys_[i], ranks[i]);
    }
    const auto ends = tail == Tail::Both ? 2 : 1;
    // Entries with exact ranks, each as far from the one before as it may be.
    const auto few = ends * (1 + std::log1p(2 * error * all)) / (2 * error);
    std::size_t size = sum.size();
    if (static_cast<double>(size) > 1.4 * few) sum.gap_ = sum.prune_piece(0, size, reach, size);
    if (static_cast<double>(size) > 4 * few) return false;
    sum.keys_.resize(size);
    sum.ranks_.resize(size);
    if (size == n) {  // all values are kept
        sum.ranks_.clear();
        sum.error_ = 0;
    }
    *this = std::move(sum);
    return true;
}

}  // namespace quadmill::detail::stream
