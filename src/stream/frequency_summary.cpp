#include "stream/frequency_summary.hpp"

#include <cmath>

namespace quadmill::detail::stream {

std::uint64_t FrequencySummary::less_than(double max_error) {
    constexpr double max = 0x1p62;
    const double error = std::clamp(max_error, 0.0, max), whole = std::nearbyint(error);
    const double less = std::abs(error - whole) <= error * 0x1p-50 ? whole - 1 : std::floor(error);
    return static_cast<std::uint64_t>(std::max(less, 0.0));
}

FrequencySummary FrequencySummary::merged(const FrequencySummary& a, const FrequencySummary& b,
                                          FrequencySummary&& memory, const Share& /*share*/) {
    return merged(a, std::span(&b.entries_, 1), b.n_, b.absent_, std::move(memory));
}

// A key without an entry on one side may occur there as often as an absent key.
FrequencySummary FrequencySummary::merged(const FrequencySummary& a, std::span<const List> parts, std::uint64_t n,
                                          std::uint64_t absent, FrequencySummary&& memory) {
    auto out = std::move(memory);
    out.n_ = a.n_ + n;
    out.absent_ = a.absent_ + absent;
    auto size = a.entries_.size();
    for (const auto& part : parts) size += part.size();
    out.entries_.resize(size);
    auto* to = out.entries_.data();
    const auto *x = a.entries_.data(), *const x_end = x + a.entries_.size();
    for (const auto& part : parts) {
        const auto *y = part.data(), *const y_end = y + part.size();
        while (x != x_end && y != y_end) {
            const bool take_x = x->key <= y->key, take_y = y->key <= x->key;  // no branch may depend on these
            *to++ = {take_x ? x->key : y->key, (take_x ? x->count : 0) + (take_y ? y->count : 0),
                     (take_x ? x->missed : a.absent_) + (take_y ? y->missed : absent)};
            x += take_x;
            y += take_y;
        }
        for (; y != y_end; ++y) *to++ = {y->key, y->count, y->missed + a.absent_};
    }
    for (; x != x_end; ++x) *to++ = {x->key, x->count, x->missed + absent};
    out.entries_.resize(static_cast<std::size_t>(to - out.entries_.data()));
    return out;
}

void FrequencySummary::prune(double max_error, const Share& /*share*/) {
    drop_up_to(less_than(max_error));
}

void FrequencySummary::drop_up_to(std::uint64_t limit) {
    if (limit <= absent_) return;
    std::erase_if(entries_, [limit](const Entry& entry) { return entry.count + entry.missed <= limit; });
    absent_ = limit;
}

Bounds FrequencySummary::count(Key key) const {
    const auto at = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
    if (at == entries_.end() || at->key != key) return {0, absent_};
    return {at->count, at->count + at->missed};
}

void FrequencySummary::write(Writer& to) const {
    to.u64(n_);
    to.u64(absent_);
    to.u64(entries_.size());
    Key before = 0;
    for (const auto& entry : entries_) {
        to.u64(entry.key - before);
        to.u64(entry.count);
        to.u64(absent_ - entry.missed);
        before = entry.key;
    }
}

// A key has an entry only if it may occur more often than an absent key. If none may be absent, all are counted.
FrequencySummary FrequencySummary::read(Reader& from) {
    FrequencySummary summary;
    summary.n_ = from.u64();
    summary.absent_ = from.u64();
    constexpr std::uint64_t max = std::uint64_t{1} << 60U;
    from.require(summary.n_ <= max && (summary.absent_ < summary.n_ || summary.absent_ == 0), "the number of values");
    summary.entries_.resize(from.count(3));
    std::uint64_t total = 0;
    Key before = 0;
    for (auto& entry : summary.entries_) {
        entry.key = from.key(before);
        entry.count = from.u64();
        const auto fewer = from.u64();
        from.require(entry.count >= 1 && entry.count <= summary.n_ - total && fewer <= summary.absent_ &&
                         entry.count > fewer && (&entry == summary.entries_.data() || before < entry.key),
                     "keys and counts of a summary");
        entry.missed = summary.absent_ - fewer;
        total += entry.count;
        before = entry.key;
    }
    from.require(summary.absent_ > 0 || total == summary.n_, "the number of values");
    return summary;
}

}  // namespace quadmill::detail::stream
