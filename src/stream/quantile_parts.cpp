#include "stream/quantile_parts.hpp"

#include <algorithm>
#include <optional>

namespace quadmill::detail::stream {

QuantileParts::QuantileParts(std::vector<const QuantileSummary*> parts) : parts_(std::move(parts)) {
    std::erase_if(parts_, [](const QuantileSummary* part) { return part->n() == 0; });
    for (const auto* part : parts_) {
        n_ += part->n();
        size_ += part->size();
    }
}

// Max number of values that a part has before a position.
std::uint64_t QuantileParts::ranks_after(std::size_t part, std::size_t index) const {
    const auto& of = *parts_[part];
    return index < of.size() ? of.entry(index).rank_max - 1 : of.n();
}

Bounds QuantileParts::count_at_most(Key key) const {
    Bounds sum;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto index = parts_[i]->above(key);
        sum.lower += index > 0 ? parts_[i]->entry(index - 1).rank_min : 0;
        sum.upper += ranks_after(i, index);
    }
    return sum;
}

std::size_t QuantileParts::last(const Places& at) const {
    std::size_t best = parts_.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (at[i] == 0) continue;
        if (best == parts_.size() || parts_[i]->key(at[i] - 1) >= parts_[best]->key(at[best] - 1)) best = i;
    }
    return best;
}

QuantileParts::Entry QuantileParts::entry(const Places& at, std::size_t part) const {
    auto entry = parts_[part]->entry(at[part]);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (i == part) continue;
        entry.rank_min += at[i] > 0 ? parts_[i]->entry(at[i] - 1).rank_min : 0;
        entry.rank_max += ranks_after(i, at[i]);
    }
    return entry;
}

// Both bounds ascend. So the rank is nearest to the last entry whose bounds' mean is at most the rank, or to the next
// one. Bisection finds the first key with an entry that passes the rank, then the first part that has such an entry,
// then the first such entry in that part.
QuantileParts::Entry QuantileParts::at_rank(std::uint64_t rank) const {
    const auto parts = parts_.size();
    Places from(parts, 0), to(parts);  // the range of positions that is left
    for (std::size_t i = 0; i < parts; ++i) to[i] = parts_[i]->size();
    const auto passes = [rank](const Entry& e) { return e.rank_min + e.rank_max > 2 * rank; };
    const auto last_passes = [&](Places& at) {
        const auto part = last(at);
        if (part == parts) return false;
        --at[part];
        const bool is_passed = passes(entry(at, part));
        ++at[part];
        return is_passed;
    };
    std::optional<Entry> after;
    if (!last_passes(to)) from = to;
    auto low = min(), high = greatest();
    Places up_to(parts);
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        for (std::size_t i = 0; i < parts; ++i) up_to[i] = parts_[i]->above(middle, from[i], to[i]);
        if (last_passes(up_to)) {
            high = middle;
            std::swap(to, up_to);
        } else {
            low = middle + 1;
            std::swap(from, up_to);
        }
    }
    // Entries below the key do not pass.
    for (std::size_t part = 0; part < parts && !after; ++part) {
        if (to[part] == from[part]) continue;
        auto at = from;
        at[part] = to[part];
        if (last_passes(at)) {
            at[part] = first_not(from[part], to[part] - 1, [&](std::size_t index) {
                at[part] = index;
                return !passes(entry(at, part));
            });
            after = entry(at, part);
        }
        from = at;
    }
    const auto part = last(from);
    if (part == parts) return *after;
    --from[part];
    const auto before = entry(from, part);
    return after && after->rank_max - rank < rank - before.rank_min ? *after : before;
}

}  // namespace quadmill::detail::stream
