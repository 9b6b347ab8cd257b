#include "stream/correlated_summary.hpp"

#include <algorithm>
#include <cmath>

namespace quadmill::detail::stream {

namespace {

using Amounts = CorrelatedSummary::Amounts;
using Entry = CorrelatedSummary::Entry;

Amounts operator+(const Amounts& a, const Amounts& b) {
    Amounts sum{};
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
    return sum;
}

// Whether b - a is more than that, in any measure.
bool further(const Amounts& a, const Amounts& b, const Amounts& than) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (b[i] - a[i] > than[i]) return true;
    }
    return false;
}

}  // namespace

// An error of e allows a gap of 2 e.
Amounts CorrelatedSummary::allowed(double max_error) const {
    Amounts gaps{};
    for (std::size_t i = 0; i < measures; ++i) gaps[i] = 2 * max_error / static_cast<double>(n_) * total_[i];
    gaps[Number] -= 1;  // a rank counts the pair itself
    return gaps;
}

CorrelatedSummary::CorrelatedSummary(std::span<const Pair> sorted, double max_error) : n_(sorted.size()) {
    for (const auto& pair : sorted) {
        total_ = total_ + Amounts{1, std::max(pair.weight, 0.0), std::max(-pair.weight, 0.0)};
        if (!entries_.empty() && entries_.back().key == pair.key) {
            entries_.back().least = entries_.back().most = total_;
            continue;
        }
        const auto below = entries_.empty() ? Amounts{} : entries_.back().most;
        entries_.push_back({pair.key, total_, total_, below});
    }
    prune(max_error);
}

// What is at most a key that only one has, is in the other between two entries.
CorrelatedSummary CorrelatedSummary::merged(const CorrelatedSummary& a, const CorrelatedSummary& b,
                                            CorrelatedSummary&& memory, const Share& /*share*/) {
    auto out = std::move(memory);
    out.n_ = a.n_ + b.n_;
    out.total_ = a.total_ + b.total_;
    out.entries_.clear();
    out.entries_.reserve(a.entries_.size() + b.entries_.size());
    // What `in` has at most, and below, a key that is just before `at`, or in it.
    const auto part = [](const CorrelatedSummary& in, const Entry* at, bool is_there) -> Entry {
        if (is_there) return *at;
        const bool first = at == in.entries_.data(), end = at == in.entries_.data() + in.entries_.size();
        const auto above = end ? in.total_ : at->below;
        return {0, first ? Amounts{} : (at - 1)->least, above, above};
    };
    const auto *x = a.entries_.data(), *y = b.entries_.data();
    const auto *const x_end = x + a.entries_.size(), *const y_end = y + b.entries_.size();
    while (x != x_end || y != y_end) {
        const bool take_x = y == y_end || (x != x_end && x->key <= y->key);
        const bool take_y = x == x_end || (y != y_end && y->key <= x->key);
        const auto from_a = part(a, x, take_x), from_b = part(b, y, take_y);
        out.entries_.push_back({take_x ? x->key : y->key, from_a.least + from_b.least, from_a.most + from_b.most,
                                from_a.below + from_b.below});
        x += take_x;
        y += take_y;
    }
    return out;
}

// As for quantiles: from each entry that is kept to the last one that all gaps allow.
void CorrelatedSummary::prune(double max_error, const Share& /*share*/) {
    if (entries_.size() < 3) return;
    const auto gaps = allowed(max_error);
    std::size_t kept = 0;
    for (std::size_t i = 1; i + 1 < entries_.size(); ++i) {
        if (further(entries_[kept].least, entries_[i + 1].below, gaps)) entries_[++kept] = entries_[i];
    }
    entries_[++kept] = entries_.back();
    entries_.resize(kept + 1);
    entries_.shrink_to_fit();
}

double CorrelatedSummary::max_error() const {
    double worst = 0;
    for (std::size_t i = 0; i < measures; ++i) {
        if (total_[i] <= 0) continue;
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            const auto& entry = entries_[e];
            const double before = e > 0 ? entry.below[i] - entries_[e - 1].least[i] : 0;
            const double wide = std::max(entry.most[i] - entry.least[i], before);
            worst = std::max(worst, (wide + (i == Number && wide > 0 ? 1 : 0)) / total_[i]);
        }
    }
    return worst / 2 * static_cast<double>(n_);
}

std::pair<Amounts, Amounts> CorrelatedSummary::at_most(Key key) const {
    const auto above =
        std::partition_point(entries_.begin(), entries_.end(), [key](const Entry& entry) { return entry.key <= key; });
    if (above == entries_.begin()) return {};
    const auto& last = *(above - 1);
    if (last.key == key) return {last.least, last.most};
    return {last.least, above == entries_.end() ? total_ : above->below};
}

CorrelatedSummary::AtRank CorrelatedSummary::at_rank(std::uint64_t rank) const {
    const auto r = static_cast<double>(rank);
    // The ranks of a key are from what is below it, and one, to what is at most it.
    const auto reached = std::partition_point(entries_.begin(), entries_.end(),
                                              [r](const Entry& entry) { return entry.least[Number] < r; });
    const auto passed = std::partition_point(entries_.begin(), entries_.end(),
                                             [r](const Entry& entry) { return entry.below[Number] < r; });
    const auto upper = reached == entries_.end() ? reached - 1 : reached;
    const auto lower = passed == entries_.begin() ? passed : passed - 1;
    const auto error = [r](const Entry& entry) {
        return std::max({r - entry.least[Number], entry.below[Number] + 1 - r, 0.0});
    };
    auto nearest = lower;
    for (auto at = std::min(lower, upper); at <= std::max(lower, upper); ++at) {
        if (error(*at) < error(*nearest)) nearest = at;
    }
    return {lower->key, nearest->key, upper->key};
}

void CorrelatedSummary::write(Writer& to) const {
    to.u64(n_);
    for (const double amount : total_) to.f64(amount);
    to.u64(entries_.size());
    for (const auto& entry : entries_) {
        to.u64(entry.key);
        for (const auto& amounts : {entry.least, entry.most, entry.below}) {
            for (const double amount : amounts) to.f64(amount);
        }
    }
}

CorrelatedSummary CorrelatedSummary::read(Reader& from) {
    CorrelatedSummary summary;
    summary.n_ = from.u64();
    constexpr std::uint64_t most = std::uint64_t{1} << 52U;
    from.require(summary.n_ <= most, "the number of pairs");
    for (auto& amount : summary.total_) amount = from.f64();
    const auto possible = [&](const Amounts& a) {
        for (std::size_t i = 0; i < measures; ++i) {
            if (!(a[i] >= 0 && a[i] <= summary.total_[i] * (1 + 1e-9) && std::isfinite(a[i]))) return false;
        }
        return true;
    };
    from.require(possible(summary.total_) && summary.total_[Number] == static_cast<double>(summary.n_), "the sums");
    summary.entries_.resize(from.count(sizeof(Entry)));
    const Entry* before = nullptr;
    for (auto& entry : summary.entries_) {
        entry.key = from.u64();
        for (auto* amounts : {&entry.least, &entry.most, &entry.below}) {
            for (auto& amount : *amounts) amount = from.f64();
            from.require(possible(*amounts), "the sums");
        }
        const auto grows = [&](const Amounts& a, const Amounts& b) { return !further(b, a, {}); };
        from.require(grows(entry.least, entry.most) &&
                         (before == nullptr || (before->key < entry.key && grows(before->least, entry.least) &&
                                                grows(before->most, entry.most) && grows(before->below, entry.below))),
                     "keys and sums of a summary");
        before = &entry;
    }
    from.require((summary.n_ == 0) == summary.entries_.empty(), "an empty summary");
    return summary;
}

}  // namespace quadmill::detail::stream
