// Leaves of conditions, as loops that the compiler vectorizes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "query/cpu/words.hpp"

namespace quadmill::detail::query::loops {

// Writes the bits of rows [first, first + n), where `first` begins a word. Ignores NULLs and `negate`.
void pack_leaf(const TableData& table, const Range& leaf, std::size_t first, std::size_t n, std::uint32_t* words);
void pack_leaf(const TableData& table, const Pair& leaf, std::size_t first, std::size_t n, std::uint32_t* words);
void pack_leaf(const TableData& table, const Linear& leaf, std::size_t first, std::size_t n, std::uint32_t* words);
void pack_leaf(const TableData& table, const Formula& leaf, std::size_t first, std::size_t n, std::uint32_t* words);

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

}  // namespace quadmill::detail::query::loops
