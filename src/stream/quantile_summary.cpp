#include "stream/quantile_summary.hpp"

#include <algorithm>
#include <utility>

namespace quadmill::detail::stream {

// An error of e ranks allows a gap of 2 e; one rank from the next is the least.
std::uint64_t QuantileSummary::gap_for(double max_error) {
    constexpr double most = 0x1p62;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::clamp(2 * max_error, 0.0, most)), 1);
}

std::uint64_t QuantileSummary::measured_gap() const {
    std::uint64_t gap = 1;
    for (std::size_t i = 1; i < entries_.size(); ++i)
        gap = std::max(gap, entries_[i].rank_max - entries_[i - 1].rank_min);
    return gap;
}

// An entry of one has the rank that it had, and as many more as there are entries before it in the other: at least up
// to its predecessor there, at most to before its successor. Of equal keys those of `a` come first.
QuantileSummary QuantileSummary::merged(const QuantileSummary& a, const QuantileSummary& b) {
    if (a.n_ == 0) return b;
    if (b.n_ == 0) return a;
    QuantileSummary out;
    out.n_ = a.n_ + b.n_;
    const auto na = a.entries_.size(), nb = b.entries_.size();
    out.entries_.resize(na + nb);
    auto* to = out.entries_.data();
    const auto *x = a.entries_.data(), *y = b.entries_.data();
    const auto *const x_end = x + na, *const y_end = y + nb;
    std::uint64_t x_min = 0, y_min = 0, gap = 1;  // rank_min of the predecessors
    while (x != x_end && y != y_end) {
        const bool take_x = x->key <= y->key;  // a coin toss: no branch may depend on it
        const auto& taken = take_x ? *x : *y;
        const auto rank_max = x->rank_max + y->rank_max - 1;
        gap = std::max(gap, rank_max - (x_min + y_min));
        x_min = take_x ? x->rank_min : x_min;
        y_min = take_x ? y_min : y->rank_min;
        *to++ = {taken.key, x_min + y_min, rank_max};
        x += take_x;
        y += !take_x;
    }
    const auto take_rest = [&](const Entry* from, const Entry* end, std::uint64_t others) {
        for (auto before = x_min + y_min; from != end; ++from) {
            *to = {from->key, from->rank_min + others, from->rank_max + others};
            gap = std::max(gap, to->rank_max - before);
            before = to++->rank_min;
        }
    };
    take_rest(x, x_end, b.n_);
    take_rest(y, y_end, a.n_);
    out.gap_ = gap;
    return out;
}

// From each entry that is kept to the last one that the gap allows. The one after that is too far, and at most the old
// gap further; so each step gains more than the growth of the gap, and at most n / growth + 1 entries are kept.
void QuantileSummary::prune(double max_error) {
    const auto gap = gap_for(max_error);
    if (gap <= gap_ || entries_.size() < 3) return;
    std::size_t kept = 0;
    for (std::size_t i = 1; i + 1 < entries_.size(); ++i) {
        if (entries_[i + 1].rank_max - entries_[kept].rank_min > gap) entries_[++kept] = entries_[i];
    }
    entries_[++kept] = entries_.back();
    entries_.resize(kept + 1);
    entries_.shrink_to_fit();
    gap_ = measured_gap();
}

const QuantileSummary::Entry& QuantileSummary::at_rank(std::uint64_t rank) const {
    const auto error = [rank](const Entry& entry) {
        return std::max(rank > entry.rank_min ? rank - entry.rank_min : 0,
                        entry.rank_max > rank ? entry.rank_max - rank : 0);
    };
    auto at = std::partition_point(entries_.begin(), entries_.end(),
                                   [rank](const Entry& entry) { return entry.rank_max <= rank; });
    if (at != entries_.begin()) --at;
    auto best = at;
    for (; at != entries_.end() && (at->rank_max <= rank || at->rank_max - rank < error(*best)); ++at) {
        if (error(*at) < error(*best)) best = at;
    }
    return *best;
}

Bounds QuantileSummary::count_at_most(Key key) const {
    const auto above =
        std::partition_point(entries_.begin(), entries_.end(), [key](const Entry& entry) { return entry.key <= key; });
    return {above == entries_.begin() ? 0 : (above - 1)->rank_min, above == entries_.end() ? n_ : above->rank_max - 1};
}

Bounds QuantileSummary::count_below(Key key) const {
    return key == 0 ? Bounds{} : count_at_most(key - 1);
}

void QuantileSummary::write(Writer& to) const {
    to.u64(n_);
    to.u64(entries_.size());
    for (const auto& entry : entries_) {
        to.u64(entry.key);
        to.u64(entry.rank_min);
        to.u64(entry.rank_max);
    }
}

QuantileSummary QuantileSummary::read(Reader& from) {
    QuantileSummary summary;
    summary.n_ = from.u64();
    constexpr std::uint64_t most = std::uint64_t{1} << 60U;
    from.require(summary.n_ <= most, "the number of values");
    summary.entries_.resize(from.count(sizeof(Entry)));
    Entry before{0, 0, 0};
    for (auto& entry : summary.entries_) {
        entry.key = from.u64();
        entry.rank_min = from.u64();
        entry.rank_max = from.u64();
        from.require(entry.key >= before.key && entry.rank_min > before.rank_min && entry.rank_max > before.rank_max &&
                         entry.rank_min <= entry.rank_max && entry.rank_max <= summary.n_,
                     "keys and ranks of a summary");
        before = entry;
    }
    from.require(summary.n_ == 0 ? summary.entries_.empty()
                                 : !summary.entries_.empty() && summary.entries_.front().rank_min == 1 &&
                                       summary.entries_.front().rank_max == 1 && before.rank_min == summary.n_,
                 "the ends of a summary");
    summary.gap_ = summary.measured_gap();
    return summary;
}

}  // namespace quadmill::detail::stream
