// Merging sorted runs on the CPU: two at a time, each merge split among threads where the output is cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "cpu/workers.hpp"

namespace quadmill::detail::cpu {

// A sorted run of `size` elements, `stride` apart.
template <class T>
struct Run {
    const T* data = nullptr;
    std::size_t size = 0, stride = 1;
    [[nodiscard]] const T& operator[](std::size_t i) const { return data[i * stride]; }
};

// How many of the first `diagonal` elements of the merged sequence come from `a`; of equal ones, a's come first.
template <class T, class Less>
[[nodiscard]] std::size_t merge_path(const Run<T>& a, const Run<T>& b, std::size_t diagonal, Less less) {
    std::size_t low = diagonal > b.size ? diagonal - b.size : 0, high = std::min(diagonal, a.size);
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (less(b[diagonal - 1 - middle], a[middle])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

template <class T, class Less>
void merge_two(Run<T> a, Run<T> b, T* out, Less less) {
    const T *x = a.data, *y = b.data;
    const T *const x_end = x + a.size * a.stride, *const y_end = y + b.size * b.stride;
    while (x != x_end && y != y_end) {  // no branch on the data: which run gives is a coin toss
        const bool take_b = less(*y, *x);
        *out++ = take_b ? *y : *x;
        x += take_b ? 0 : a.stride;
        y += take_b ? b.stride : 0;
    }
    for (; x != x_end; x += a.stride) *out++ = *x;
    for (; y != y_end; y += b.stride) *out++ = *y;
}

// Merges runs into `out`, which must not overlap them, two by two, with `scratch` of the same size for the rounds
// between. The number of rounds is ceil(log2(runs)).
template <class T, class Less>
void merge_runs(std::vector<Run<T>> runs, std::span<T> out, std::span<T> scratch, Workers& workers, Less less) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    std::size_t rounds = 0;
    while ((std::size_t{1} << rounds) < runs.size()) ++rounds;
    rounds = std::max<std::size_t>(rounds, 1);
    for (std::size_t round = 0; round < rounds; ++round) {
        // The last round must end in `out`.
        T* to = ((rounds - round) % 2 == 1 ? out : scratch).data();
        struct Piece {
            Run<T> a, b;
            T* out;
        };
        std::vector<Piece> pieces;
        std::vector<Run<T>> merged;
        for (std::size_t r = 0; r < runs.size(); r += 2) {
            const auto a = runs[r];
            const auto b = r + 1 < runs.size() ? runs[r + 1] : Run<T>{};
            const auto size = a.size + b.size;
            std::size_t from_a = 0;
            for (std::size_t begin = 0; begin < size; begin += piece) {
                const auto end = std::min(begin + piece, size);
                const auto to_a = merge_path(a, b, end, less);
                const auto from_b = begin - from_a;
                pieces.push_back({{a.data + from_a * a.stride, to_a - from_a, a.stride},
                                  {b.data + from_b * b.stride, end - to_a - from_b, b.stride},
                                  to + begin});
                from_a = to_a;
            }
            merged.push_back({to, size, 1});
            to += size;
        }
        workers.for_each(pieces.size(),
                         [&](std::size_t i) { merge_two(pieces[i].a, pieces[i].b, pieces[i].out, less); });
        runs = std::move(merged);
    }
}

// The same, of runs that lie in `keys`, one after the other, and end up there.
template <class T, class Less>
void merge_in_place(std::vector<Run<T>> runs, std::span<T> keys, std::span<T> scratch, Workers& workers, Less less) {
    if (runs.size() < 2) return;
    std::size_t rounds = 0;
    while ((std::size_t{1} << rounds) < runs.size()) ++rounds;
    scratch = scratch.first(keys.size());
    // The runs lie in `keys`, so the first round must go to the scratch memory.
    if (rounds % 2 == 0) return merge_runs(std::move(runs), keys, scratch, workers, less);
    merge_runs(std::move(runs), scratch, keys, workers, less);
    constexpr std::size_t piece = std::size_t{1} << 18;
    workers.for_each((keys.size() + piece - 1) / piece, [&](std::size_t i) {
        const auto part = scratch.subspan(i * piece, std::min(piece, keys.size() - i * piece));
        std::copy(part.begin(), part.end(), keys.begin() + static_cast<std::ptrdiff_t>(i * piece));
    });
}

// Merges `extra` into the first `size` elements of `keys`, which has room for both. Keys between two extra ones move as
// a block, found by a search that starts near the last one.
template <class T, class Less>
void merge_into(std::span<T> keys, std::size_t size, std::span<const T> extra, Less less) {
    for (auto left = extra.size(); left > 0; --left) {
        const T& key = extra[left - 1];
        // The last `reach` keys are above `key`.
        std::size_t reach = 0, next = 1;
        while (next <= size && less(key, keys[size - next])) {
            reach = next;
            next *= 2;
        }
        const auto low = keys.begin() + static_cast<std::ptrdiff_t>(size - std::min(next, size));
        const auto high = keys.begin() + static_cast<std::ptrdiff_t>(size - reach);
        const auto place = std::upper_bound(low, high, key, less);
        const auto end = keys.begin() + static_cast<std::ptrdiff_t>(size);
        std::move_backward(place, end, end + static_cast<std::ptrdiff_t>(left));
        size = static_cast<std::size_t>(place - keys.begin());
        keys[size + left - 1] = key;
    }
}

}  // namespace quadmill::detail::cpu
