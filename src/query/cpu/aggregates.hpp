// Aggregates of the selected rows of a chunk.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "query/cpu/words.hpp"

namespace quadmill::detail::query::loops {

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

// high * 2^32 + low, low below 2^32; exact for up to 2^32 rows.
struct IntegerSum {
    std::int64_t high = 0;
    std::uint64_t low = 0;
    void add(const IntegerSum& other) {
        low += other.low;
        high += other.high + static_cast<std::int64_t>(low >> 32U);
        low &= 0xffffffffU;
    }
};

template <class T>
IntegerSum chunk_sum(std::span<const T> values, const Words& words, std::size_t chunk) {
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
    IntegerSum sum;
    sum.add({.high = high, .low = low});
    return sum;
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

// Neumaier's sum: rounding errors are summed separately, so that many chunks cost at most two roundings.
inline double compensated(std::span<const double> parts) {
    double sum = 0, lost = 0;
    for (const auto x : parts) {
        const auto next = sum + x;
        lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    return std::isfinite(sum) ? sum + lost : sum;
}

}  // namespace quadmill::detail::query::loops
