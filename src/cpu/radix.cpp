#include "cpu/radix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace quadmill::detail::cpu {
namespace {

using Item = std::uint64_t;
constexpr unsigned max_bits = 10;      // per digit: its buckets' ends stay in a cache
constexpr std::size_t short_run = 24;  // shorter runs are sorted by insertion
constexpr std::size_t for_threads = std::size_t{1} << 15;

// A digit: `bits` bits from bit `shift` on.
struct Digit {
    unsigned shift = 0, bits = 0;
    [[nodiscard]] std::size_t of(Item item) const { return (item >> shift) & ((Item{1} << bits) - 1); }
    [[nodiscard]] std::size_t count() const { return std::size_t{1} << bits; }
};

// The highest bits in which items differ, enough of them that buckets become short after one step.
Digit next_digit(Item differing, unsigned low_bit, std::size_t n) {
    const auto top = static_cast<unsigned>(std::bit_width(differing));
    const auto wanted = std::clamp(static_cast<unsigned>(std::bit_width(n)) - 3, 4U, max_bits);
    const auto bits = std::min(wanted, top - low_bit);
    return {top - bits, bits};
}

Item differing_bits(std::span<const Item> items, Item first, unsigned low_bit) {
    Item differing = 0;
    for (const auto item : items) differing |= item ^ first;
    return differing >> low_bit << low_bit;
}

void insertion_sort(std::span<Item> items, unsigned low_bit) {
    for (std::size_t i = 1; i < items.size(); ++i) {
        const auto item = items[i];
        auto to = i;
        for (; to > 0 && (items[to - 1] >> low_bit) > (item >> low_bit); --to) items[to] = items[to - 1];
        items[to] = item;
    }
}

enum class Result { Here, There };
constexpr Result other(Result result) {
    return result == Result::Here ? Result::There : Result::Here;
}

// Sorts the items in `here`. `result` says where they end up.
void sort_from_top(std::span<Item> here, std::span<Item> there, unsigned low_bit, Result result) {
    const auto n = here.size();
    Item differing = 0;
    if (n <= short_run) {
        insertion_sort(here, low_bit);
    } else {
        differing = differing_bits(here, here[0], low_bit);
    }
    if (differing == 0) {
        if (result == Result::There) std::copy(here.begin(), here.end(), there.begin());
        return;
    }
    const auto digit = next_digit(differing, low_bit, n);
    std::array<std::size_t, std::size_t{1} << max_bits> next;
    std::fill_n(next.begin(), digit.count(), 0);
    for (const auto item : here) ++next[digit.of(item)];
    std::size_t sum = 0;
    for (std::size_t d = 0; d < digit.count(); ++d) sum += std::exchange(next[d], sum);
    for (const auto item : here) there[next[digit.of(item)]++] = item;
    std::size_t begin = 0;
    for (std::size_t d = 0; d < digit.count(); ++d) {
        const auto size = next[d] - begin;
        if (size > 0) sort_from_top(there.subspan(begin, size), here.subspan(begin, size), low_bit, other(result));
        begin = next[d];
    }
}

struct Bucket {
    std::size_t begin, size;
};

// One digit with all threads: each counts and moves its own piece. Returns the buckets.
std::vector<Bucket> distribute(std::span<const Item> from, Item* to, Digit digit, Workers& workers) {
    const std::size_t pieces = workers.threads();
    const auto piece = [&](std::size_t p) {
        const auto begin = from.size() * p / pieces;
        return from.subspan(begin, from.size() * (p + 1) / pieces - begin);
    };
    std::vector<std::vector<std::size_t>> next(pieces, std::vector<std::size_t>(digit.count()));
    workers.for_each(pieces, [&](std::size_t p) {
        for (const auto item : piece(p)) ++next[p][digit.of(item)];
    });
    std::vector<Bucket> buckets(digit.count());
    std::size_t sum = 0;
    for (std::size_t d = 0; d < digit.count(); ++d) {
        buckets[d].begin = sum;
        for (auto& of_piece : next) sum += std::exchange(of_piece[d], sum);
        buckets[d].size = sum - buckets[d].begin;
    }
    workers.for_each(pieces, [&](std::size_t p) {
        auto& positions = next[p];
        for (const auto item : piece(p)) to[positions[digit.of(item)]++] = item;
    });
    return buckets;
}

Item differing_bits(std::span<const Item> items, unsigned low_bit, Workers& workers) {
    std::vector<Item> differing(workers.threads());
    workers.for_each(differing.size(), [&](std::size_t p) {
        const auto begin = items.size() * p / differing.size(), end = items.size() * (p + 1) / differing.size();
        differing[p] = differing_bits(items.subspan(begin, end - begin), items[0], low_bit);
    });
    Item all = 0;
    for (const auto of_piece : differing) all |= of_piece;
    return all;
}

void sort_by_threads(std::span<Item> here, std::span<Item> there, unsigned low_bit, Result result, Workers& workers) {
    if (here.size() < for_threads || workers.threads() == 1) return sort_from_top(here, there, low_bit, result);
    const auto differing = differing_bits(here, low_bit, workers);
    if (differing == 0) {
        if (result == Result::There) std::copy(here.begin(), here.end(), there.begin());
        return;
    }
    const auto buckets = distribute(here, there.data(), next_digit(differing, low_bit, here.size()), workers);
    const auto share = here.size() / (std::size_t{4} * workers.threads());
    std::vector<std::size_t> ends;  // of tasks, in buckets
    std::size_t size = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        size += std::min(buckets[b].size, share);
        if (size >= share || b + 1 == buckets.size()) {
            ends.push_back(b + 1);
            size = 0;
        }
    }
    const auto is_long = [&](const Bucket& bucket) { return bucket.size > 2 * share && bucket.size >= for_threads; };
    workers.for_each(ends.size(), [&](std::size_t task) {
        for (auto b = task == 0 ? 0 : ends[task - 1]; b < ends[task]; ++b) {
            const auto [begin, n] = buckets[b];
            if (n == 0 || is_long(buckets[b])) continue;
            sort_from_top(there.subspan(begin, n), here.subspan(begin, n), low_bit, other(result));
        }
    });
    for (const auto& bucket : buckets) {
        if (!is_long(bucket)) continue;
        const auto [begin, n] = bucket;
        sort_by_threads(there.subspan(begin, n), here.subspan(begin, n), low_bit, other(result), workers);
    }
}

}  // namespace

void radix_sort(std::span<Item> items, std::span<Item> scratch, unsigned low_bit) {
    if (low_bit < 64) sort_from_top(items, scratch.first(items.size()), low_bit, Result::Here);
}

void radix_sort(std::span<Item> items, std::span<Item> scratch, unsigned low_bit, Workers& workers) {
    if (low_bit < 64) sort_by_threads(items, scratch.first(items.size()), low_bit, Result::Here, workers);
}

}  // namespace quadmill::detail::cpu
