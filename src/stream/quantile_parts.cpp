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

std::size_t QuantileParts::next(const Places& at) const {
    std::size_t best = parts_.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (at[i] == parts_[i]->size()) continue;
        if (best == parts_.size() || parts_[i]->key(at[i]) < parts_[best]->key(at[best])) best = i;
    }
    return best;
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

// By bisection: finds the first key with an entry that reaches the rank, then the first part that has such an entry,
// then the first such entry in that part.
QuantileParts::Places QuantileParts::places_at(std::uint64_t rank) const {
    const auto parts = parts_.size();
    Places from(parts, 0), to(parts);  // the range of positions that is left
    for (std::size_t i = 0; i < parts; ++i) to[i] = parts_[i]->size();
    const auto reaches = [&](const Places& at) {
        auto before = at;
        const auto part = last(at);
        if (part == parts) return false;
        --before[part];
        return entry(before, part).rank_max > rank;
    };
    if (!reaches(to)) return to;
    auto low = min(), high = greatest();
    Places up_to(parts);
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        for (std::size_t i = 0; i < parts; ++i) up_to[i] = parts_[i]->above(middle, from[i], to[i]);
        if (reaches(up_to)) {
            high = middle;
            std::swap(to, up_to);
        } else {
            low = middle + 1;
            std::swap(from, up_to);
        }
    }
    // Positions below the key do not reach the rank, positions up to the key do.
    for (std::size_t part = 0; part < parts; ++part) {
        auto at = from;
        at[part] = to[part];
        if (at[part] == from[part]) continue;
        if (!reaches(at)) {
            from = at;
            continue;
        }
        at[part] = first_not(from[part], to[part] - 1, [&](std::size_t index) {
            at[part] = index;
            return entry(at, part).rank_max <= rank;
        });
        return at;
    }
    return to;
}

QuantileParts::Entry QuantileParts::at_rank(std::uint64_t rank) const {
    const auto error = [rank](const Entry& e) {
        return std::max(rank > e.rank_min ? rank - e.rank_min : 0, e.rank_max > rank ? e.rank_max - rank : 0);
    };
    auto at = places_at(rank);
    std::optional<Entry> best;
    if (const auto part = last(at); part < parts_.size()) {
        --at[part];
        best = entry(at, part);
        ++at[part];
    }
    for (auto part = next(at); part < parts_.size(); part = next(at)) {
        const auto candidate = entry(at, part);
        if (best && candidate.rank_max > rank && candidate.rank_max - rank >= error(*best)) break;
        if (!best || error(candidate) < error(*best)) best = candidate;
        ++at[part];
    }
    return *best;
}

}  // namespace quadmill::detail::stream
