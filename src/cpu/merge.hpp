// Merges sorted runs on the CPU, two or four at a time. Each merge is split among threads by cutting its output.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
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

// A faulty driver may return unsorted keys. Merges then throw this GlError instead of reading or writing outside of the
// runs. But they do not detect every unsorted run: see require_sorted().
[[noreturn]] void throw_not_sorted();

template <class T, class Less>
[[nodiscard]] bool is_sorted(const Run<T>& run, Less less) {
    bool sorted = true;
    for (std::size_t i = 1; i < run.size; ++i) sorted = sorted && !less(run[i], run[i - 1]);
    return sorted;
}

// Calls throw_not_sorted() unless each run from a GPU is sorted.
template <class T, class Less>
void require_sorted(const std::vector<Run<T>>& runs, const Workers& workers, Less less) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    struct Piece {
        std::size_t run, begin;
    };
    std::vector<Piece> pieces;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        for (std::size_t begin = 0; begin < runs[r].size; begin += piece) pieces.push_back({r, begin});
    }
    workers.for_each(pieces.size(), [&](std::size_t i) {
        const auto [r, begin] = pieces[i];
        const auto& run = runs[r];
        // Including the first key of the next piece.
        const auto size = std::min(piece + 1, run.size - begin);
        if (!is_sorted(Run<T>{run.data + begin * run.stride, size, run.stride}, less)) throw_not_sorted();
    });
}

// Number of elements of `a` among the first `diagonal` elements of the merged sequence. Among equal elements, those of
// `a` come first.
template <class A, class B, class Less>
[[nodiscard]] std::size_t merge_path(const A& a, const B& b, std::size_t diagonal, Less less) {
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

// A merge of two runs from both ends. Which run has the next key is random, so there is no branch on it. The position
// of the key after it is computed from the comparison, which takes as long as a read. Meanwhile the other end takes a
// key.
template <class T, class Less>
struct TwoEnds {
    static constexpr std::size_t few = 16;

    TwoEnds(const Run<T>& first, const Run<T>& second, T* to, Less is_less)
        : a(first.data),
          a_end(a + first.size * first.stride),
          b(second.data),
          b_end(b + second.size * second.stride),
          a_stride(static_cast<std::ptrdiff_t>(first.stride)),
          b_stride(static_cast<std::ptrdiff_t>(second.stride)),
          out(to),
          out_end(to + first.size + second.size),
          less(is_less) {}
    // Number of steps in which the ends cannot meet.
    [[nodiscard]] std::size_t steps() const {
        const auto left = std::min((a_end - a) / a_stride, (b_end - b) / b_stride);
        if (left < 0) throw_not_sorted();  // both ends took the same key
        return static_cast<std::size_t>(left);
    }
    // Takes a key from each end.
    void step() {
        const std::ptrdiff_t take_b = less(*b, *a) ? 1 : 0;
        *out++ = *std::array<const T*, 2>{a, b}[static_cast<std::size_t>(take_b)];
        a += (1 - take_b) * a_stride;
        b += take_b * b_stride;
        const auto *a_last = a_end - a_stride, *b_last = b_end - b_stride;
        const std::ptrdiff_t take_a = less(*b_last, *a_last) ? 1 : 0;
        *--out_end = *std::array<const T*, 2>{b_last, a_last}[static_cast<std::size_t>(take_a)];
        a_end -= take_a * a_stride;
        b_end -= (1 - take_a) * b_stride;
    }
    static void finish(TwoEnds left) {
        for (auto steps = left.steps(); steps >= few; steps = left.steps()) {
            for (std::size_t i = 0; i < steps; ++i) left.step();
        }
        const auto take = [&left](const T*& from, std::ptrdiff_t stride) {
            *left.out++ = *from;
            from += stride;
        };
        while (left.a != left.a_end && left.b != left.b_end)
            left.less(*left.b, *left.a) ? take(left.b, left.b_stride) : take(left.a, left.a_stride);
        while (left.a != left.a_end) take(left.a, left.a_stride);
        while (left.b != left.b_end) take(left.b, left.b_stride);
    }

    const T *a, *a_end, *b, *b_end;
    std::ptrdiff_t a_stride, b_stride;
    T *out, *out_end;
    Less less;
};

template <class T, class Less>
void merge_two(const Run<T>& a, const Run<T>& b, T* out, Less less) {
    TwoEnds<T, Less>::finish({a, b, out, less});
}

// merge_two() for long runs. It merges two halves of the output at the same time, so that more steps need not wait for
// each other. The cut takes log2 of a run's size comparisons.
template <class T, class Less>
void merge_halves(const Run<T>& a, const Run<T>& b, T* out, Less less) {
    constexpr std::size_t worth_cutting = 256;
    if (std::min(a.size, b.size) < worth_cutting) return merge_two(a, b, out, less);
    const auto half = (a.size + b.size) / 2, of_a = merge_path(a, b, half, less), of_b = half - of_a;
    TwoEnds<T, Less> low({a.data, of_a, a.stride}, {b.data, of_b, b.stride}, out, less);
    TwoEnds<T, Less> high({a.data + of_a * a.stride, a.size - of_a, a.stride},
                          {b.data + of_b * b.stride, b.size - of_b, b.stride}, out + half, less);
    const auto steps = [&] { return std::min(low.steps(), high.steps()); };
    for (auto both = steps(); both >= low.few; both = steps()) {
        for (std::size_t i = 0; i < both; ++i) {
            low.step();
            high.step();
        }
    }
    TwoEnds<T, Less>::finish(low);
    TwoEnds<T, Less>::finish(high);
}

// The merge of two runs, seen as one run.
template <class T, class Less>
struct MergedRuns {
    MergedRuns(const Run<T>& first, const Run<T>& second, Less is_less)
        : a(first), b(second), less(is_less), size(a.size + b.size) {}
    [[nodiscard]] const T& operator[](std::size_t i) const {
        const auto from_a = merge_path(a, b, i, less), from_b = i - from_a;
        if (from_b == b.size) return a[from_a];
        return from_a < a.size && !less(b[from_b], a[from_a]) ? a[from_a] : b[from_b];
    }
    Run<T> a, b;
    Less less;
    std::size_t size;
};

// Four runs to merge. Equal keys are in the order of the runs.
template <class T>
using FourRuns = std::array<Run<T>, 4>;

// Merges the runs until one of the first `count` is empty. Returns the end of the output. Compares the heads of two
// runs, the heads of the other two, and the winners. The winners are kept, so this takes two comparisons per key,
// without a branch on the data.
template <std::size_t count, class T, class Less>
T* merge_until_empty(FourRuns<T>& runs, T* out, Less less) {
    static_assert(count == 3 || count == 4);
    const T *a = runs[0].data, *b = runs[1].data, *c = runs[2].data, *d = count == 4 ? runs[3].data : nullptr;
    const auto end = [&](std::size_t i) { return runs[i].data + runs[i].size * runs[i].stride; };
    const T *const a_end = end(0), *const b_end = end(1), *const c_end = end(2),
                   *const d_end = count == 4 ? end(3) : nullptr;
    const auto a_step = runs[0].stride, b_step = runs[1].stride, c_step = runs[2].stride, d_step = runs[3].stride;
    while (a != a_end && b != b_end && c != c_end && (count == 3 || d != d_end)) {
        const bool of_b = less(*b, *a), of_d = count == 4 && less(*d, *c);
        const T *first = of_b ? b : a, *second = of_d ? d : c;
        const bool of_second = less(*second, *first);
        *out++ = of_second ? *second : *first;
        a += of_second || of_b ? 0 : a_step;
        b += of_second || !of_b ? 0 : b_step;
        c += of_second && !of_d ? c_step : 0;
        if constexpr (count == 4) d += of_second && of_d ? d_step : 0;
    }
    const auto cut = [](Run<T>& run, const T* from, const T* to) {
        run = {from, static_cast<std::size_t>(to - from) / run.stride, run.stride};
    };
    cut(runs[0], a, a_end);
    cut(runs[1], b, b_end);
    cut(runs[2], c, c_end);
    if constexpr (count == 4) cut(runs[3], d, d_end);
    return out;
}

// Merges four runs in one round. Runs may be empty.
template <class T, class Less>
void merge_four(FourRuns<T> runs, T* out, Less less) {
    while (true) {
        const auto left = std::stable_partition(runs.begin(), runs.end(), [](const auto& run) { return run.size > 0; });
        switch (left - runs.begin()) {
            case 4:
                out = merge_until_empty<4>(runs, out, less);
                break;
            case 3:
                out = merge_until_empty<3>(runs, out, less);
                break;
            default:
                return merge_two(runs[0], runs[1], out, less);
        }
    }
}

// Number of runs that one round merges into one.
enum class Ways : std::size_t { Two = 2, Four = 4 };

// Number of rounds, at least one.
[[nodiscard]] inline std::size_t merge_rounds(std::size_t runs, Ways ways) {
    std::size_t rounds = 1;
    for (auto reach = static_cast<std::size_t>(ways); reach < runs; reach *= static_cast<std::size_t>(ways)) ++rounds;
    return rounds;
}

// Number of keys from each of four runs among the first `end` keys of the merged sequence.
template <class T, class Less>
[[nodiscard]] std::array<std::size_t, 4> cut_four(const FourRuns<T>& runs, std::size_t end, Less less) {
    const MergedRuns<T, Less> first(runs[0], runs[1], less), second(runs[2], runs[3], less);
    const auto of_first = merge_path(first, second, end, less);
    const auto of_a = merge_path(runs[0], runs[1], of_first, less);
    const auto of_c = merge_path(runs[2], runs[3], end - of_first, less);
    return {of_a, of_first - of_a, of_c, end - of_first - of_c};
}

// Merges runs in rounds, as described at merge_runs. If memory runs out, it happens before a round, and `runs` are
// those before that round.
template <class T, class Less>
void merge_in_rounds(std::vector<Run<T>>& runs, std::span<T> out, std::span<T> scratch, const Workers& workers,
                     Less less, Ways ways) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    const auto rounds = merge_rounds(runs.size(), ways);
    for (std::size_t round = 0; round < rounds; ++round) {
        // The last round must end in `out`.
        T* to = ((rounds - round) % 2 == 1 ? out : scratch).data();
        struct Merge {
            FourRuns<T> from;
            T* out;
        };
        struct Piece {
            std::size_t merge = 0, begin = 0;   // where the piece begins in the merged sequence
            std::array<std::size_t, 4> from{};  // and in each run
        };
        std::vector<Merge> merges;
        std::vector<Piece> pieces;
        std::vector<Run<T>> merged;
        for (std::size_t r = 0; r < runs.size(); r += static_cast<std::size_t>(ways)) {
            FourRuns<T> from{};
            std::copy_n(&runs[r], std::min(runs.size() - r, static_cast<std::size_t>(ways)), from.begin());
            std::size_t size = 0;
            for (const auto& run : from) size += run.size;
            for (std::size_t begin = 0; begin < size; begin += piece) pieces.push_back({merges.size(), begin, {}});
            merges.push_back({from, to});
            merged.push_back({to, size, 1});
            to += size;
        }
        // A cut waits for memory at every step, so threads also share the cuts.
        workers.for_each(pieces.size(), [&](std::size_t i) {
            pieces[i].from = cut_four(merges[pieces[i].merge].from, pieces[i].begin, less);
        });
        workers.for_each(pieces.size(), [&](std::size_t i) {
            const auto& at = pieces[i];
            const auto& [from, to_all] = merges[at.merge];
            const bool last = i + 1 == pieces.size() || pieces[i + 1].merge != at.merge;
            FourRuns<T> part{};
            for (std::size_t k = 0; k < 4; ++k) {
                const auto end = last ? from[k].size : pieces[i + 1].from[k];
                if (end < at.from[k]) throw_not_sorted();
                part[k] = {from[k].data + at.from[k] * from[k].stride, end - at.from[k], from[k].stride};
            }
            merge_four(part, to_all + at.begin, less);
        });
        runs = std::move(merged);
    }
}

// Merges runs into `out`, which must not overlap them, with `ways` runs at a time. `scratch` has the same size and is
// used between rounds (merge_rounds); a single round needs none. If memory runs out, the merge takes longer but loses
// nothing.
template <class T, class Less>
void merge_runs(std::vector<Run<T>> runs, std::span<T> out, std::span<T> scratch, const Workers& workers, Less less,
                Ways ways = Ways::Two) {
    try {
        merge_in_rounds(runs, out, scratch, workers, less, ways);
    } catch (const std::bad_alloc&) {
        // A run at the start of `out` was merged there and is complete.
        auto* to = out.data();
        if (runs.front().data != to) {
            for (const auto& run : runs) {
                for (std::size_t i = 0; i < run.size; ++i) *to++ = run.data[i * run.stride];
            }
        }
        std::stable_sort(out.begin(), out.end(), less);  // in place if there is no memory
    }
}

// merge_runs() for consecutive runs in `keys`, in place.
template <class T, class Less>
void merge_in_place(std::vector<Run<T>> runs, std::span<T> keys, std::span<T> scratch, const Workers& workers,
                    Less less, Ways ways = Ways::Two) {
    if (runs.size() < 2) return;
    const auto rounds = merge_rounds(runs.size(), ways);
    scratch = scratch.first(keys.size());
    // The runs are in `keys`, so the first round goes to the scratch memory.
    if (rounds % 2 == 0) return merge_runs(std::move(runs), keys, scratch, workers, less, ways);
    merge_runs(std::move(runs), scratch, keys, workers, less, ways);
    constexpr std::size_t piece = std::size_t{1} << 18;
    workers.for_each((keys.size() + piece - 1) / piece, [&](std::size_t i) {
        const auto part = scratch.subspan(i * piece, std::min(piece, keys.size() - i * piece));
        std::copy(part.begin(), part.end(), keys.begin() + static_cast<std::ptrdiff_t>(i * piece));
    });
}

// Merges `extra` into the first `size` elements of `keys`, which has room for both. Keys between two extra keys are
// moved as a block, whose end is found by a search that starts near the previous one.
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
        const auto position = std::upper_bound(low, high, key, less);
        const auto end = keys.begin() + static_cast<std::ptrdiff_t>(size);
        std::move_backward(position, end, end + static_cast<std::ptrdiff_t>(left));
        size = static_cast<std::size_t>(position - keys.begin());
        keys[size + left - 1] = key;
    }
}

}  // namespace quadmill::detail::cpu
