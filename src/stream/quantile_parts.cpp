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

// By bisection: finds the first key with such an entry, then the first part that has such an entry, then the first one
// in that part.
QuantileParts::Places QuantileParts::places_at(std::uint64_t rank) const {
    const auto parts = parts_.size();
    Places from(parts, 0), to(parts);  // the range of positions that is left
    for (std::size_t i = 0; i < parts; ++i) to[i] = parts_[i]->size();
    const auto passes = [rank](const Entry& e) { return e.rank_min + e.rank_max > 2 * rank; };
    const auto reaches = [&](Places& at) {
        const auto part = last(at);
        if (part == parts) return false;
        --at[part];
        const bool is_passed = passes(entry(at, part));
        ++at[part];
        return is_passed;
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
            return !passes(entry(at, part));
        });
        return at;
    }
    return to;
}

// Both bounds ascend. So the lower bound is further from the rank before that position, the upper one after it.
QuantileParts::Entry QuantileParts::at_rank(std::uint64_t rank) const {
    auto at = places_at(rank);
    std::optional<Entry> after;
    if (const auto part = next(at); part < parts_.size()) after = entry(at, part);
    const auto part = last(at);
    if (part == parts_.size()) return *after;
    --at[part];
    const auto before = entry(at, part);
    return after && after->rank_max - rank < rank - before.rank_min ? *after : before;
}

}  // namespace quadmill::detail::stream
