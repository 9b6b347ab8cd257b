// The loops of the CPU engine, which the compiler vectorizes: leaves of conditions, and aggregates of selected rows.
// Rows are in words of 32, and in chunks for the threads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "quadmill/error.hpp"
#include "query/plan/engine.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query::loops {

using Words = std::vector<std::uint32_t>;
inline constexpr std::size_t word_rows = 32;
// The unit of work of a thread. It does not depend on the number of threads, so sums do not, either.
inline constexpr std::size_t chunk_words = 2048, chunk_rows = word_rows * chunk_words;

// Calls `work` with the values as a span of their type.
template <class Work>
decltype(auto) with_values(const ColumnData& column, Work&& work) {
    return visit_column_type(column.type, [&]<class T>(const T* /*type*/) -> decltype(auto) {
        const auto* values = std::get_if<std::vector<T>>(&column.values);
        if (!values) {
            throw InvalidArgument("QueryProcessor: the CPU engine needs columns in memory, but '" + column.name +
                                  "' is a texture");
        }
        return work(std::span<const T>(*values));
    });
}

// A key as wide as its value, so that as many as possible go into a vector register.
template <class T>
using NarrowKey = typename cpu::KeyBits<T>::Bits;
template <class T>
NarrowKey<T> narrow_key(T value) {
    return static_cast<NarrowKey<T>>(KeyOf<T>::key(value));
}

template <class Unsigned>
static constexpr auto bit_of_lane = [] {
    std::array<Unsigned, word_rows> bits{};
    for (std::size_t i = 0; i < word_rows; ++i) bits[i] = Unsigned{1} << i;
    return bits;
}();

// All ones or all zeros. GCC does not vectorize a loop that uses ?: for this.
template <class Lane>
Lane mask(bool holds) {
    return static_cast<Lane>(Lane{0} - static_cast<Lane>(holds));
}
template <class Lane>
Lane lane_mask(std::uint32_t word, std::size_t lane) {
    return mask<Lane>((Lane{word} & bit_of_lane<Lane>[lane]) != 0);
}

// ---- Leaves of conditions

// Bits of `holds(row)` for n rows, 32 per word. Lane is as wide as the values that `holds` compares.
template <class Lane, class Holds>
void pack(std::size_t n, std::uint32_t* words, const Holds& holds) {
    const auto whole = n / word_rows;
    for (std::size_t w = 0; w < whole; ++w) {
        Lane word = 0;
        for (std::size_t i = 0; i < word_rows; ++i) word |= mask<Lane>(holds(w * word_rows + i)) & bit_of_lane<Lane>[i];
        words[w] = static_cast<std::uint32_t>(word);
    }
    if (n % word_rows == 0) return;
    std::uint32_t last = 0;
    for (auto i = whole * word_rows; i < n; ++i) last |= std::uint32_t{holds(i)} << (i % word_rows);
    words[whole] = last;
}

// Tells whether keys are in a list: a short list by comparisons, keys that are close together with a table, others by
// binary search.
template <class T>
class Finder {
  public:
    using Narrow = NarrowKey<T>;
    explicit Finder(const std::vector<Key>& list) : keys_(list.size()) {
        for (std::size_t i = 0; i < list.size(); ++i) keys_[i] = static_cast<Narrow>(list[i]);
        if (keys_.size() <= few) {
            few_.fill(keys_[0]);
            std::copy(keys_.begin(), keys_.end(), few_.begin());
        } else if (list.back() - list.front() < max_places) {
            is_in_.resize(static_cast<std::size_t>(list.back() - list.front()) + 1);
            for (const auto key : list) is_in_[static_cast<std::size_t>(key - list.front())] = 1;
        }
    }

    void pack_found(const T* values, std::size_t n, std::uint32_t* words) const {
        if (keys_.size() <= few) {
            pack<Narrow>(n, words, [values, list = few_](std::size_t i) {
                const auto key = narrow_key(values[i]);
                bool found = false;
                for (const auto one : list) found |= key == one;
                return found;
            });
        } else if (!is_in_.empty()) {
            pack<std::uint32_t>(n, words, [&](std::size_t i) {
                const auto index = static_cast<Narrow>(narrow_key(values[i]) - keys_[0]);
                return index < is_in_.size() && is_in_[index];
            });
        } else {
            pack<std::uint32_t>(n, words, [&](std::size_t i) {
                return std::binary_search(keys_.begin(), keys_.end(), narrow_key(values[i]));
            });
        }
    }

  private:
    static constexpr std::size_t few = 8, max_places = std::size_t{1} << 22U;
    std::vector<Narrow> keys_;
    std::array<Narrow, few> few_{};
    std::vector<std::uint8_t> is_in_;
};

template <class T>
void pack_compared(Comparison op, const T* a, const T* b, std::size_t n, std::uint32_t* words) {
    using Lane = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    switch (op) {
        case Comparison::Less:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] < b[i]; });
        case Comparison::LessOrEqual:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] <= b[i]; });
        case Comparison::Equal:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] == b[i]; });
        case Comparison::NotEqual:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] != b[i]; });
        case Comparison::GreaterOrEqual:
            return pack_compared(Comparison::LessOrEqual, b, a, n, words);
        case Comparison::Greater:
            return pack_compared(Comparison::Less, b, a, n, words);
    }
}

// Rows [first, first + n) as numbers of another type.
template <class Number>
void load(const ColumnData& column, std::size_t first, std::size_t n, Number* out) {
    with_values(column, [&](auto values) {
        const auto* from = values.data() + first;
        for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Number>(from[i]);
    });
}

// Calls `work(first, n)` for blocks that stay in the L1 cache. Blocks are whole words, except for the last.
constexpr std::size_t block_rows = 1024;
template <class Work>
void for_blocks(std::size_t first, std::size_t n, const Work& work) {
    for (std::size_t done = 0; done < n; done += block_rows) work(first + done, std::min(block_rows, n - done));
}

// The operands are on a stack, one block each. The two sides of the comparison are left at the end.
template <class T>
void pack_formula(const TableData& table, const Formula& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    std::vector<std::array<T, block_rows>> stack;
    const auto constant = [](const Numeral& number) {
        return std::visit([](auto value) { return static_cast<T>(value); }, number);
    };
    for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
        std::size_t size = 0;
        const auto each = [&](auto compute) {
            auto &a = stack[size - 1], &b = stack[size];
            for (std::size_t i = 0; i < rows; ++i) a[i] = compute(a[i], b[i]);
        };
        for (const auto& step : leaf.steps) {
            const bool fresh = step.op == Arithmetic::Leaf || step.op == Arithmetic::Constant;
            if (fresh && ++size > stack.size()) stack.emplace_back();
            if (!fresh && step.op != Arithmetic::Negate) --size;
            switch (step.op) {
                case Arithmetic::Leaf:
                    load(*table.columns[step.leaf], at, rows, stack[size - 1].data());
                    break;
                case Arithmetic::Constant:
                    std::fill_n(stack[size - 1].data(), rows, constant(step.constant));
                    break;
                case Arithmetic::Negate:
                    for (std::size_t i = 0; i < rows; ++i) stack[size - 1][i] = -stack[size - 1][i];
                    break;
                case Arithmetic::Add:
                    each([](T a, T b) { return a + b; });
                    break;
                case Arithmetic::Subtract:
                    each([](T a, T b) { return a - b; });
                    break;
                case Arithmetic::Multiply:
                    each([](T a, T b) { return a * b; });
                    break;
                default:
                    throw_not_linear();
            }
        }
        pack_compared(leaf.op, stack[0].data(), stack[1].data(), rows, words + (at - first) / word_rows);
    });
}

// Each writes the bits of rows [first, first + n), where `first` begins a word. Ignores NULLs and `negate`.
inline void pack_leaf(const TableData& table, const Range& leaf, std::size_t first, std::size_t n,
                      std::uint32_t* words) {
    with_values(*table.columns[leaf.column], [&]<class T>(std::span<const T> values) {
        if constexpr (std::is_floating_point_v<T>) {
            // Comparing the numbers themselves takes a third of the time of comparing keys. It does not work for NaNs.
            if (leaf.high <= KeyOf<T>::key(std::numeric_limits<T>::infinity())) {
                const auto min = KeyOf<T>::value(leaf.low), max = KeyOf<T>::value(leaf.high);
                return pack<NarrowKey<T>>(n, words, [=, from = values.data() + first](std::size_t i) {
                    return static_cast<bool>(static_cast<int>(from[i] >= min) & static_cast<int>(from[i] <= max));
                });
            }
        }
        using Narrow = NarrowKey<T>;
        const auto low = static_cast<Narrow>(leaf.low), width = static_cast<Narrow>(leaf.high - leaf.low);
        pack<Narrow>(n, words, [=, from = values.data() + first](std::size_t i) {
            return static_cast<Narrow>(narrow_key(from[i]) - low) <= width;
        });
    });
}

inline void pack_leaf(const TableData& table, const Pair& leaf, std::size_t first, std::size_t n,
                      std::uint32_t* words) {
    const auto &a = *table.columns[leaf.a], &b = *table.columns[leaf.b];
    const auto compare = [&]<class Number>(Number /*type*/) {
        std::array<Number, block_rows> x, y;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
            load(a, at, rows, x.data());
            load(b, at, rows, y.data());
            pack_compared(leaf.op, x.data(), y.data(), rows, words + (at - first) / word_rows);
        });
    };
    // If the numbers represent all values of a type, they compare as its keys do, and NaNs compare as required.
    if (leaf.as == Pair::As::Doubles || (leaf.as == Pair::As::Keys && is_float(a.type))) {
        compare(double{});
    } else {
        compare(std::int64_t{});
    }
}

inline void pack_leaf(const TableData& table, const Linear& leaf, std::size_t first, std::size_t n,
                      std::uint32_t* words) {
    std::array<double, block_rows> sum, x, constant;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    constant.fill(leaf.constant);
    for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
        std::fill_n(sum.data(), rows, 0.0);
        for (std::size_t term = 0; term < leaf.factors.size(); ++term) {
            load(*table.columns[leaf.columns[term]], at, rows, x.data());
            for (std::size_t i = 0; i < rows; ++i) sum[i] += leaf.factors[term] * x[i];
        }
        pack_compared(leaf.op, sum.data(), constant.data(), rows, words + (at - first) / word_rows);
    });
}

inline void pack_leaf(const TableData& table, const Formula& leaf, std::size_t first, std::size_t n,
                      std::uint32_t* words) {
    if (leaf.as == Formula::As::Integers) return pack_formula<Integer>(table, leaf, first, n, words);
    pack_formula<double>(table, leaf, first, n, words);
}

// ---- Aggregates of the selected rows of a chunk

// Calls `work(word, values, lanes)` for words with selected rows. `lanes` is a constant except for the last word.
template <class T, class Work>
void for_words(std::span<const T> values, const Words& words, std::size_t chunk, const Work& work) {
    const auto end = std::min(words.size(), (chunk + 1) * chunk_words);
    for (auto w = chunk * chunk_words; w < end; ++w) {
        if (words[w] == 0) continue;
        const auto* from = values.data() + w * word_rows;
        if ((w + 1) * word_rows <= values.size()) {
            work(words[w], from, std::integral_constant<std::size_t, word_rows>{});
        } else {
            work(words[w], from, values.size() - w * word_rows);
        }
    }
}

template <class Work>
void for_bits(std::uint32_t word, const Work& work) {
    for (; word; word &= word - 1) work(static_cast<std::size_t>(std::countr_zero(word)));
}

template <class T>
std::pair<Key, Key> chunk_extremes(std::span<const T> values, const Words& words, std::size_t chunk) {
    using Narrow = NarrowKey<T>;
    auto min = static_cast<Narrow>(~Narrow{0});
    Narrow max = 0;
    for_words(values, words, chunk, [&](std::uint32_t word, const T* from, auto lanes) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const auto key = narrow_key(from[i]), in = lane_mask<Narrow>(word, i);
            min = std::min(min, static_cast<Narrow>(key | ~in));
            max = std::max(max, static_cast<Narrow>(key & in));
        }
    });
    return {min, max};
}

// Exact for up to 2^32 rows.
template <class T>
Integer chunk_sum(std::span<const T> values, const Words& words, std::size_t chunk) {
    std::int64_t high = 0;
    std::uint64_t low = 0;
    for_words(values, words, chunk, [&](std::uint32_t word, const T* from, auto lanes) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const auto in = lane_mask<NarrowKey<T>>(word, i);
            const std::int64_t value{static_cast<T>(static_cast<NarrowKey<T>>(from[i]) & in)};
            high += value >> 32;
            low += static_cast<std::uint32_t>(value);
        }
    });
    return (Integer{high} << 32) + low;
}

// Pairwise summation over blocks of 64 in 8 lanes. Each value goes through at most 10 roundings in its block and one
// for each doubling after it, together at most log2 n + 5.
class PairwiseSum {
  public:
    // Space for 32 values; call taken() with the number written.
    [[nodiscard]] double* space() { return values_.data() + size_; }
    void taken(std::size_t n) {
        size_ += n;
        if (size_ < block) return;
        add(block_sum(), 0);
        std::copy(values_.begin() + block, values_.begin() + static_cast<std::ptrdiff_t>(size_), values_.begin());
        size_ -= block;
    }
    [[nodiscard]] double total() {
        std::fill(values_.begin() + static_cast<std::ptrdiff_t>(size_), values_.begin() + block, 0.0);
        auto sum = block_sum();
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            if ((blocks_ >> level) & 1U) sum += levels_[level];
        }
        return sum;
    }

  private:
    static constexpr std::size_t block = 64, lanes = 8;

    [[nodiscard]] double block_sum() const {
        std::array<double, lanes> sum{};
        for (std::size_t i = 0; i < block; i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) sum[lane] += values_[i + lane];
        }
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
    // Works like adding 1 to a binary number: level i holds the sum of 2^i blocks if blocks_ has that bit.
    void add(double sum, std::size_t level) {
        for (; (blocks_ >> level) & 1U; ++level) sum += levels_[level];
        levels_[level] = sum;
        ++blocks_;
    }

    std::array<double, block + word_rows> values_{};
    std::size_t size_ = 0;
    std::array<double, std::bit_width(chunk_rows / block)> levels_{};
    std::size_t blocks_ = 0;
};

template <class T>
double chunk_float_sum(std::span<const T> values, const Words& words, std::size_t chunk) {
    PairwiseSum sum;
    for_words(values, words, chunk, [&](std::uint32_t word, const T* from, auto lanes) {
        auto* to = sum.space();
        if (word == ~0U) {
            for (std::size_t i = 0; i < lanes; ++i) to[i] = static_cast<double>(from[i]);
        } else {
            for_bits(word, [&](std::size_t i) { *to++ = static_cast<double>(from[i]); });
        }
        sum.taken(static_cast<std::size_t>(std::popcount(word)));
    });
    return sum.total();
}

}  // namespace quadmill::detail::query::loops
