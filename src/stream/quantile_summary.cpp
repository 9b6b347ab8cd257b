#include "stream/quantile_summary.hpp"

#include <iterator>
#include <ranges>
#include <utility>

namespace quadmill::detail::stream {

struct QuantileSummary::Exact {
    explicit Exact(const QuantileSummary& /*summary*/) {}
    Ranks operator[](std::size_t i) const { return {i + 1, i + 1}; }
};

struct QuantileSummary::Bounded {
    explicit Bounded(const QuantileSummary& summary) : ranks(summary.ranks_.data()) {}
    const Ranks& operator[](std::size_t i) const { return ranks[i]; }
    const Ranks* ranks;
};

// An error of e ranks allows a gap of 2 e; one rank from the next is the least.
std::uint64_t QuantileSummary::gap_for(double max_error) {
    constexpr double most = 0x1p62;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::clamp(2 * max_error, 0.0, most)), 1);
}

QuantileSummary QuantileSummary::merged(const QuantileSummary& a, const QuantileSummary& b, QuantileSummary&& memory) {
    if (a.n_ == 0) return b;
    if (b.n_ == 0) return a;
    auto out = std::move(memory);
    out.n_ = a.n_ + b.n_;
    out.keys_.resize(a.size() + b.size());
    const bool exact = a.is_exact() && b.is_exact();
    out.ranks_.resize(exact ? 0 : out.size());
    if (exact) {
        out.merge_exactly(a, b);
    } else if (a.is_exact()) {
        out.merge<Exact, Bounded>(a, b);
    } else if (b.is_exact()) {
        out.merge<Bounded, Exact>(a, b);
    } else {
        out.merge<Bounded, Bounded>(a, b);
    }
    return out;
}

void QuantileSummary::merge_exactly(const QuantileSummary& a, const QuantileSummary& b) {
    gap_ = 1;
    const auto *x = a.keys_.data(), *y = b.keys_.data(), *const x_end = x + a.size(), *const y_end = y + b.size();
    auto* to = keys_.data();
    while (x != x_end && y != y_end) {
        const bool take_x = *x <= *y;  // a coin toss: no branch may depend on it
        *to++ = take_x ? *x : *y;
        x += take_x;
        y += !take_x;
    }
    std::copy(y, y_end, std::copy(x, x_end, to));
}

// An entry of one has the rank that it had, and as many more as there are entries before it in the other: at least up
// to its predecessor there, at most to before its successor. Of equal keys those of `a` come first.
template <class RanksA, class RanksB>
void QuantileSummary::merge(const QuantileSummary& a, const QuantileSummary& b) {
    const auto na = a.size(), nb = b.size();
    const RanksA ranks_a(a);
    const RanksB ranks_b(b);
    std::size_t x = 0, y = 0;
    std::uint64_t x_min = 0, y_min = 0, gap = 2;  // rank_min of the predecessors
    while (x < na && y < nb) {
        const bool take_x = a.keys_[x] <= b.keys_[y];  // a coin toss: no branch may depend on it
        const auto in_a = ranks_a[x], in_b = ranks_b[y];
        const auto max = in_a.max + in_b.max - 1;
        gap = std::max(gap, max - (x_min + y_min));
        x_min = take_x ? in_a.min : x_min;
        y_min = take_x ? y_min : in_b.min;
        keys_[x + y] = take_x ? a.keys_[x] : b.keys_[y];
        ranks_[x + y] = {x_min + y_min, max};
        x += take_x;
        y += !take_x;
    }
    auto before = x_min + y_min;
    const auto take = [&](Key key, const Ranks& ranks, std::uint64_t others) {
        keys_[x + y] = key;
        ranks_[x + y] = {ranks.min + others, ranks.max + others};
        gap = std::max(gap, ranks.max + others - before);
        before = ranks.min + others;
    };
    for (; x < na; ++x) take(a.keys_[x], ranks_a[x], b.n_);
    for (; y < nb; ++y) take(b.keys_[y], ranks_b[y], a.n_);
    gap_ = gap;
}

// From each entry that is kept to the last one that the gap allows. The one after that is too far, and at most the old
// gap further; so each step gains more than the growth of the gap, and at most n / growth + 1 entries are kept.
void QuantileSummary::prune(double max_error) {
    const auto allowed = gap_for(max_error);
    if (allowed <= gap_ || n_ / (allowed - gap_) >= size()) return;  // few would go
    if (is_exact()) {
        const auto all = std::move(keys_);
        return sample(n_, allowed, [&](std::uint64_t i) { return all[static_cast<std::size_t>(i)]; });
    }
    std::size_t kept = 0;
    std::uint64_t gap = 2;
    const auto keep = [&](std::size_t i) {
        gap = std::max(gap, ranks_[i].max - ranks_[kept].min);
        ++kept;
        keys_[kept] = keys_[i];
        ranks_[kept] = ranks_[i];
    };
    for (std::size_t i = 1; i + 1 < size(); ++i) {
        if (ranks_[i + 1].max - ranks_[kept].min > allowed) keep(i);
    }
    keep(size() - 1);
    keys_.resize(kept + 1);
    ranks_.resize(kept + 1);
    if (kept < keys_.capacity() / 2) {
        keys_.shrink_to_fit();
        ranks_.shrink_to_fit();
    }
    gap_ = gap;
}

QuantileSummary::Entry QuantileSummary::at_rank(std::uint64_t rank) const {
    if (is_exact()) return entry(static_cast<std::size_t>(rank - 1));
    const auto error = [rank](const Ranks& r) {
        return std::max(rank > r.min ? rank - r.min : 0, r.max > rank ? r.max - rank : 0);
    };
    auto at = std::partition_point(ranks_.begin(), ranks_.end(), [rank](const Ranks& r) { return r.max <= rank; });
    if (at != ranks_.begin()) --at;
    auto best = at;
    for (; at != ranks_.end() && (at->max <= rank || at->max - rank < error(*best)); ++at) {
        if (error(*at) < error(*best)) best = at;
    }
    return entry(static_cast<std::size_t>(best - ranks_.begin()));
}

Bounds QuantileSummary::count_at_most(Key key) const {
    const auto at = static_cast<std::size_t>(std::upper_bound(keys_.begin(), keys_.end(), key) - keys_.begin());
    return {at == 0 ? 0 : entry(at - 1).rank_min, at == size() ? n_ : entry(at).rank_max - 1};
}

void QuantileSummary::write(Writer& to) const {
    to.u64(n_);
    to.u64(gap_);
    to.u64(size());
    for (const auto key : keys_) to.u64(key);
    for (const auto& ranks : ranks_) {
        to.u64(ranks.min);
        to.u64(ranks.max);
    }
}

QuantileSummary QuantileSummary::read(Reader& from) {
    constexpr std::uint64_t most = std::uint64_t{1} << 60U;
    QuantileSummary summary;
    summary.n_ = from.u64();
    summary.gap_ = from.u64();
    from.require(summary.n_ <= most && summary.gap_ >= 1, "the number of values");
    summary.keys_.resize(from.count(sizeof(Key)));
    for (auto& key : summary.keys_) key = from.u64();
    from.require(std::ranges::is_sorted(summary.keys_), "the order of keys");
    if (summary.is_exact()) {
        from.require(summary.size() == summary.n_, "the number of keys");
        return summary;
    }
    from.require(summary.size() >= 2 && summary.size() <= summary.n_, "the number of keys");
    summary.ranks_.resize(summary.size());
    Ranks before{0, 0};
    for (auto& ranks : summary.ranks_) {
        ranks.min = from.u64();
        ranks.max = from.u64();
        from.require(ranks.min > before.min && ranks.max > before.max && ranks.min <= ranks.max &&
                         ranks.max <= summary.n_ && (before.min == 0 || ranks.max - before.min <= summary.gap_),
                     "the ranks of a summary");
        before = ranks;
    }
    from.require(summary.ranks_.front().max == 1 && before.min == summary.n_, "the ends of a summary");
    return summary;
}

}  // namespace quadmill::detail::stream
