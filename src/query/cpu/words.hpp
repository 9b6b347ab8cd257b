// Common parts of the CPU's loops: rows in words of 32, in chunks for the threads, as keys and as lanes of vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
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

}  // namespace quadmill::detail::query::loops
