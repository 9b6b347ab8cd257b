#include "stream/correlated_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadmill::detail::stream {

namespace {

using Amounts = CorrelatedSummary::Amounts;
using Entry = CorrelatedSummary::Entry;

// a + b, and the rounding error (Knuth).
Twofold sum_of(double a, double b) {
    const double sum = a + b, from_b = sum - a;
    return {sum, (a - (sum - from_b)) + (b - from_b)};
}

double rounded_up(double sum) {
    return std::nextafter(sum, std::numeric_limits<double>::infinity());
}

// Adds up to 106 bits. The rounding error is added to `lost`.
Twofold add(const Twofold& a, const Twofold& b, double& lost) {
    const auto high = sum_of(a.high, b.high), low = sum_of(a.low, b.low);
    const auto middle = sum_of(high.low, low.high);
    const auto first = sum_of(high.high, middle.high);
    const auto rest = sum_of(middle.low, low.low);
    const auto last = sum_of(first.low, rest.high);
    const double left = std::abs(last.low) + std::abs(rest.low);
    if (left > 0) lost = rounded_up(lost + left);
    return sum_of(first.high, last.high);
}

Amounts add(const Amounts& a, const Amounts& b, BySign<double>& lost) {
    return {
        a.number + b.number,
        {add(a.sums.positive, b.sums.positive, lost.positive), add(a.sums.negative, b.sums.negative, lost.negative)}};
}

// Scaled. Very small weights lose bits.
Twofold scaled(double weight, double& lost) {
    const double value = weight * Twofold::scale;
    if (value / Twofold::scale != weight) lost = rounded_up(lost + std::numeric_limits<double>::denorm_min());
    return {value, 0};
}

double difference(const Twofold& a, const Twofold& b) {
    return (b.high - a.high) + (b.low - a.low);
}

}  // namespace

bool CorrelatedSummary::further(const Amounts& a, const Amounts& b, const Gaps& than) {
    const auto numbers = static_cast<double>(b.number) - static_cast<double>(a.number);
    return numbers > than.number || difference(a.sums.positive, b.sums.positive) > than.positive ||
           difference(a.sums.negative, b.sums.negative) > than.negative;
}

// An error of e permits a gap of 2 e. A rank counts the pair itself. (Differences of sums are rounded here.)
CorrelatedSummary::Gaps CorrelatedSummary::allowed(double max_error) const {
    const double part = 2 * max_error / static_cast<double>(n_), sums = part * (1 - 0x1p-40);
    return {part * static_cast<double>(n_) - 1, sums * total_.sums.positive.high, sums * total_.sums.negative.high};
}

CorrelatedSummary::CorrelatedSummary(std::span<const Pair> sorted, double max_error) : n_(sorted.size()) {
    for (const auto& pair : sorted) {
        total_.number += 1;
        auto& sum = pair.weight > 0 ? total_.sums.positive : total_.sums.negative;
        auto& lost = pair.weight > 0 ? lost_.positive : lost_.negative;
        sum = add(sum, scaled(std::abs(pair.weight), lost), lost);
        if (!entries_.empty() && entries_.back().key == pair.key) {
            entries_.back().min = entries_.back().max = total_;
            continue;
        }
        const auto below = entries_.empty() ? Amounts{} : entries_.back().max;
        entries_.push_back({pair.key, total_, total_, below});
    }
    prune(max_error);
}

// A key that only one summary has lies between two entries of the other, which bound the amounts there.
CorrelatedSummary CorrelatedSummary::merged(const CorrelatedSummary& a, const CorrelatedSummary& b,
                                            CorrelatedSummary&& memory, const Share& /*share*/) {
    auto out = std::move(memory);
    // Each sum is made by one addition, so the largest rounding error of these additions bounds the error of every sum.
    BySign<double> lost;
    const auto added = [&lost](const Amounts& from_a, const Amounts& from_b) {
        BySign<double> now;
        const auto sum = add(from_a, from_b, now);
        lost = {std::max(lost.positive, now.positive), std::max(lost.negative, now.negative)};
        return sum;
    };
    out.n_ = a.n_ + b.n_;
    out.total_ = added(a.total_, b.total_);
    out.entries_.clear();
    out.entries_.reserve(a.entries_.size() + b.entries_.size());
    // The amounts of `in` at most and below a key, which lies just before entry `at`, or is its key.
    const auto part = [](const CorrelatedSummary& in, const Entry* at, bool is_there) -> Entry {
        if (is_there) return *at;
        const bool first = at == in.entries_.data(), end = at == in.entries_.data() + in.entries_.size();
        const auto above = end ? in.total_ : at->below;
        return {0, first ? Amounts{} : (at - 1)->min, above, above};
    };
    const auto *x = a.entries_.data(), *y = b.entries_.data();
    const auto *const x_end = x + a.entries_.size(), *const y_end = y + b.entries_.size();
    while (x != x_end || y != y_end) {
        const bool take_x = y == y_end || (x != x_end && x->key <= y->key);
        const bool take_y = x == x_end || (y != y_end && y->key <= x->key);
        const auto from_a = part(a, x, take_x), from_b = part(b, y, take_y);
        out.entries_.push_back({take_x ? x->key : y->key, added(from_a.min, from_b.min), added(from_a.max, from_b.max),
                                added(from_a.below, from_b.below)});
        x += take_x;
        y += take_y;
    }
    const auto all = [](double before, double other, double now) {
        return before + other + now > 0 ? rounded_up(rounded_up(before + other) + now) : 0;
    };
    out.lost_ = {all(a.lost_.positive, b.lost_.positive, lost.positive),
                 all(a.lost_.negative, b.lost_.negative, lost.negative)};
    return out;
}

// As for quantiles: after a kept entry, keeps the last one that all gaps permit.
void CorrelatedSummary::prune(double max_error, const Share& /*share*/) {
    if (entries_.size() < 3) return;
    const auto gaps = allowed(max_error);
    std::size_t kept = 0;
    for (std::size_t i = 1; i + 1 < entries_.size(); ++i) {
        if (further(entries_[kept].min, entries_[i + 1].below, gaps)) entries_[++kept] = entries_[i];
    }
    entries_[++kept] = entries_.back();
    entries_.resize(kept + 1);
    entries_.shrink_to_fit();
}

double CorrelatedSummary::max_error() const {
    double worst = 0;
    const auto look = [&](double wide, double total) {
        if (total > 0) worst = std::max(worst, wide / total);
    };
    const Entry* before = nullptr;
    for (const auto& entry : entries_) {
        const auto from = before == nullptr ? Amounts{} : before->min;
        const auto below = before == nullptr ? Amounts{} : entry.below;
        const auto numbers = std::max(entry.max.number - entry.min.number, below.number - from.number);
        look(static_cast<double>(numbers) + (numbers > 0 ? 1 : 0), static_cast<double>(n_));
        const auto sums = [&](auto member) {
            look(std::max(difference(entry.min.sums.*member, entry.max.sums.*member),
                          difference(from.sums.*member, below.sums.*member)),
                 (total_.sums.*member).high);
        };
        sums(&BySign<Twofold>::positive);
        sums(&BySign<Twofold>::negative);
        before = &entry;
    }
    return worst / 2 * static_cast<double>(n_);
}

std::pair<Amounts, Amounts> CorrelatedSummary::at_most(Key key) const {
    const auto above = std::ranges::upper_bound(entries_, key, {}, &Entry::key);
    if (above == entries_.begin()) return {};
    const auto& last = *(above - 1);
    if (last.key == key) return {last.min, last.max};
    return {last.min, above == entries_.end() ? total_ : above->below};
}

namespace {

ExactSum sum_of(const Twofold& positive, const Twofold& negative, double more) {
    ExactSum sum(more);
    for (const double part : {positive.high, positive.low, -negative.high, -negative.low}) sum.add(part);
    return sum;
}

ExactSum unscaled(const ExactSum& sum, double factor = 1) {
    ExactSum out;
    out.add(sum, factor / Twofold::scale);
    return out;
}

}  // namespace

double CorrelatedSummary::min_sum(const Amounts& positive, const Amounts& negative) const {
    auto sum = sum_of(positive.sums.positive, negative.sums.negative, -lost_.positive);
    sum.add(-lost_.negative);
    return unscaled(sum).below();
}

double CorrelatedSummary::greatest_sum(const Amounts& positive, const Amounts& negative) const {
    auto sum = sum_of(positive.sums.positive, negative.sums.negative, lost_.positive);
    sum.add(lost_.negative);
    return unscaled(sum).above();
}

double CorrelatedSummary::mean_sum(const Amounts& a, const Amounts& b) {
    auto sum = sum_of(a.sums.positive, a.sums.negative, 0);
    sum.add(sum_of(b.sums.positive, b.sums.negative, 0));
    return unscaled(sum, 0.5).nearest();
}

CorrelatedSummary::AtRank CorrelatedSummary::at_rank(std::uint64_t rank) const {
    // The ranks of a key go from the number of pairs below it plus one to the number of pairs at or below it.
    const auto reached = std::partition_point(entries_.begin(), entries_.end(),
                                              [rank](const Entry& entry) { return entry.min.number < rank; });
    const auto passed = std::partition_point(entries_.begin(), entries_.end(),
                                             [rank](const Entry& entry) { return entry.below.number < rank; });
    const auto upper = reached == entries_.end() ? reached - 1 : reached;
    const auto lower = passed == entries_.begin() ? passed : passed - 1;
    const auto error = [rank](const Entry& entry) {
        return std::max(saturating_sub(rank, entry.min.number), saturating_sub(entry.below.number + 1, rank));
    };
    auto nearest = lower;
    for (auto at = std::min(lower, upper); at <= std::max(lower, upper); ++at) {
        if (error(*at) < error(*nearest)) nearest = at;
    }
    return {lower->key, nearest->key, upper->key};
}

namespace {

// Sums that equal other known sums are not written.
enum Known : std::uint64_t { None = 0, MaxIsMin = 1, BelowIsMostBefore = 2 };

void write_sums(Writer& to, const BySign<Twofold>& sums) {
    for (const auto& sum : {sums.positive, sums.negative}) {
        to.f64(sum.high);
        to.f64(sum.low);
    }
}

BySign<Twofold> read_sums(Reader& from) {
    BySign<Twofold> sums;
    for (auto* sum : {&sums.positive, &sums.negative}) {
        sum->high = from.f64();
        sum->low = from.f64();
        constexpr double max = 0x1p1012;  // for 2^52 weights
        from.require(sum->high >= 0 && sum->high <= max && sum->high + sum->low == sum->high &&
                         !std::signbit(sum->high) && (sum->high > 0 || sum->low == 0),
                     "a sum");
    }
    return sums;
}

}  // namespace

void CorrelatedSummary::write(Writer& to) const {
    to.u64(n_);
    write_sums(to, total_.sums);
    to.f64(lost_.positive);
    to.f64(lost_.negative);
    to.u64(entries_.size());
    Entry before{};
    for (const auto& entry : entries_) {
        to.u64(entry.key - before.key);
        to.u64(entry.min.number - before.min.number);
        to.u64(entry.max.number - entry.min.number);
        to.u64(entry.below.number - before.min.number);
        const bool min = entry.max.sums == entry.min.sums, most_before = entry.below.sums == before.max.sums;
        to.u64((min ? MaxIsMin : None) | (most_before ? BelowIsMostBefore : None));
        write_sums(to, entry.min.sums);
        if (!min) write_sums(to, entry.max.sums);
        if (!most_before) write_sums(to, entry.below.sums);
        before = entry;
    }
}

CorrelatedSummary::Entry CorrelatedSummary::read_entry(Reader& from, const Entry& before, bool first) {
    constexpr std::uint64_t max_number = std::uint64_t{1} << 52U;
    Entry entry{};
    entry.key = from.key(before.key);
    const auto more = [&](std::uint64_t than) {
        const auto by = from.u64();
        from.require(by <= max_number, "the number of pairs");
        return than + by;
    };
    entry.min.number = more(before.min.number);
    entry.max.number = more(entry.min.number);
    entry.below.number = more(before.min.number);
    const auto known = from.u64();
    from.require(known <= (MaxIsMin | BelowIsMostBefore) && (first || entry.key > before.key) &&
                     entry.min.number > before.min.number && entry.below.number >= before.below.number &&
                     entry.max.number >= before.max.number && entry.below.number < entry.max.number,
                 "keys and numbers of a summary");
    entry.min.sums = read_sums(from);
    entry.max.sums = (known & MaxIsMin) != 0 ? entry.min.sums : read_sums(from);
    entry.below.sums = (known & BelowIsMostBefore) != 0 ? before.max.sums : read_sums(from);
    from.require(((known & MaxIsMin) != 0) == (entry.max.sums == entry.min.sums) &&
                     ((known & BelowIsMostBefore) != 0) == (entry.below.sums == before.max.sums),
                 "sums that are written twice");
    return entry;
}

CorrelatedSummary CorrelatedSummary::read(Reader& from) {
    CorrelatedSummary summary;
    summary.n_ = summary.total_.number = from.u64();
    from.require(summary.n_ <= std::uint64_t{1} << 52U, "the number of pairs");
    summary.total_.sums = read_sums(from);
    const auto& total = summary.total_.sums;
    summary.lost_ = {from.f64(), from.f64()};
    const auto little = [](double lost, double of) {
        return lost >= 0 && lost <= of * 0x1p-40 + 0x1p-1020 && !std::signbit(lost);
    };
    from.require(
        little(summary.lost_.positive, total.positive.high) && little(summary.lost_.negative, total.negative.high),
        "what rounding lost");
    // Sums never decrease, except for rounding.
    const Gaps none{0, 4 * summary.lost_.positive, 4 * summary.lost_.negative};
    const auto grows = [&](const Amounts& a, const Amounts& b) { return !further(b, a, none); };
    summary.entries_.resize(from.count(9));
    Entry before{};
    for (auto& entry : summary.entries_) {
        entry = read_entry(from, before, &entry == summary.entries_.data());
        from.require(grows(entry.min, entry.max) && grows(before.min, entry.min) && grows(before.max, entry.max) &&
                         grows(before.below, entry.below) && grows(before.min, entry.below) &&
                         grows(entry.below, entry.max),
                     "the sums of a summary");
        before = entry;
    }
    from.require((summary.n_ == 0) == summary.entries_.empty() && before.min == summary.total_ &&
                     before.max == summary.total_ && (summary.n_ == 0 || summary.entries_.front().below == Amounts{}),
                 "the ends of a summary");
    return summary;
}

}  // namespace quadmill::detail::stream
