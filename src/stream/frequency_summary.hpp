// Manku and Motwani's lossy counting: the frequent values of a stream, each with bounds of its count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cpu/uncleared.hpp"
#include "quadmill/stream.hpp"
#include "stream/bytes.hpp"
#include "stream/key.hpp"
#include "stream/share.hpp"

namespace quadmill::detail::stream {

// Maps keys to their prefixes, which keeps their order: to themselves unless it is told otherwise.
struct Prefix {
    unsigned shift = 0;
    Key mask = ~Key{0};
    Key operator()(Key key) const { return key >> shift & mask; }
};

// Entries are in the order of their keys. A key occurs at least `count` and at most count + missed times. A key without
// an entry occurs at most max_error() times, and no entry has missed more than that. Source: Manku and Motwani, VLDB
// 2002; SIGMOD'05 section 5.1, with a corrected rule for compression: an entry is dropped if count + missed is at most
// the permitted error.
class FrequencySummary {
  public:
    struct Entry {
        Key key;
        std::uint64_t count, missed;
    };

    FrequencySummary() = default;
    // Keeps the keys of a sorted window that occur more often than that.
    static FrequencySummary of(const Window& sorted, double max_error) {
        StreamTimes none;
        return FrequencySummary().with(sorted, max_error, {}, none);
    }

    // Keeps all keys: WeightedKeys of parts.hpp.
    template <class Weighted>
    static FrequencySummary of_counts(const Weighted& keys) {
        FrequencySummary summary;
        summary.n_ = keys.n();
        std::uint64_t before = 0;
        for (const auto& [key, end] : keys.ends())
            summary.entries_.push_back({key, end - std::exchange(before, end), 0});
        return summary;
    }

    // Counts the window's keys that have an entry, or occur so often that they must have one, exactly. Then drops what
    // max_error, a count, permits. Adds the times of the three operations of section 5.1. (In a window of 1 / eps
    // values every key must have an entry, so the histogram is the paper's, of all keys.) Cost: about 2 log(m) reads
    // per entry and per m keys of the window, where m is the growth of max_error().
    [[nodiscard]] FrequencySummary with(const Window& sorted, double max_error, Prefix prefix, StreamTimes& times,
                                        const Share& share = alone) const {
        const auto limit = std::max(absent_, less_than(max_error));
        const auto histogram = timed(times.sample, [&] {
            return sorted.with_keys([&](const auto& key) {
                const auto at = [&](std::size_t i) { return prefix(key(i)); };
                return histogram_of(sorted.size(), limit, at, share);
            });
        });
        auto out = timed(times.merge, [&] { return merged(*this, histogram, sorted.size(), 0, {}); });
        timed(times.compress, [&] { out.drop_up_to(limit); });
        return out;
    }

    static FrequencySummary merged(const FrequencySummary& a, const FrequencySummary& b, FrequencySummary&& memory,
                                   const Share& share = alone);
    // Drops every key that need not have an entry if max_error() may be that large; the papers' `compress`.
    void prune(double max_error, const Share& share = alone);

    // Gives memory back, if much of it is not used.
    void pack() {
        if (!for_size && entries_.capacity() / 8 * 7 > entries_.size()) entries_.shrink_to_fit();
    }

    [[nodiscard]] std::uint64_t n() const { return n_; }
    [[nodiscard]] std::uint64_t max_error() const { return absent_; }
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry); }
    [[nodiscard]] std::size_t memory() const { return cpu::held_bytes(entries_.capacity() * sizeof(Entry)); }
    [[nodiscard]] Bounds count(Key key) const;

    void write(Writer& to) const;
    static FrequencySummary read(Reader& from);

  private:
    using List = std::vector<Entry, cpu::Uncleared<Entry>>;
    // Counts the keys that have an entry and those that may occur more often than `limit`, among n sorted keys at(i).
    // The work is split into parts that each begin with a new key.
    template <class At>
    [[nodiscard]] std::vector<List> histogram_of(std::size_t n, std::uint64_t limit, const At& at,
                                                 const Share& share) const {
        // A key that occurs `step` times is at one of the indices step - 1, 2 step - 1, ...
        const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(limit - absent_, n)) + 1;
        constexpr std::size_t min_keys = 4 * shared_piece, max_parts = 64;
        std::vector<List> parts(std::clamp<std::size_t>(n / min_keys, 1, max_parts));
        const auto cut_before = [&](std::size_t part) -> Cut {
            if (part == 0) return {0, entries_.data()};
            if (part == parts.size()) return {n, entries_.data() + entries_.size()};
            const auto index = n / parts.size() * part;
            const auto key = at(index);
            const auto first = gallop(0, index, [&](std::size_t i) { return at(i) < key; });
            const auto known = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
            return {first, entries_.data() + (known - entries_.begin())};
        };
        const auto count = [&](std::size_t part) {
            parts[part] = histogram_between(cut_before(part), cut_before(part + 1), step, at);
        };
        if (parts.size() > 1) {
            share(parts.size(), count);
        } else {
            count(0);
        }
        return parts;
    }
    // A position before a key: the key's first index in the window, and its entry or the next one.
    struct Cut {
        std::size_t index;
        const Entry* known;
    };
    template <class At>
    [[nodiscard]] static List histogram_between(const Cut& begin, const Cut& end, std::size_t step, const At& at) {
        List out;
        const auto* known = begin.known;
        out.reserve(static_cast<std::size_t>(end.known - known));
        auto from = begin.index;                      // all keys before it are counted
        auto sample = from / step * step + step - 1;  // the first such index from there on
        while (known != end.known || sample < end.index) {
            const bool is_known = known != end.known && (sample >= end.index || known->key <= at(sample));
            const auto key = is_known ? (known++)->key : at(sample);
            const auto first = gallop(from, end.index, [&](std::size_t i) { return at(i) < key; });
            from = gallop(first, end.index, [&](std::size_t i) { return at(i) <= key; });
            if (from > first) out.push_back({key, from - first, 0});
            if (sample < from) sample += (from - sample + step - 1) / step * step;
        }
        return out;
    }
    // Both together: the summary, and consecutive parts of n more values, of which an absent key may have that many.
    static FrequencySummary merged(const FrequencySummary& a, std::span<const List> parts, std::uint64_t n,
                                   std::uint64_t absent, FrequencySummary&& memory);
    void drop_up_to(std::uint64_t limit);
    // The largest integer below max_error: a value that occurs max_error times must have an entry. (A number that is an
    // integer except for rounding counts as one.)
    static std::uint64_t less_than(double max_error);
    List entries_;
    std::uint64_t n_ = 0, absent_ = 0;
};

}  // namespace quadmill::detail::stream
