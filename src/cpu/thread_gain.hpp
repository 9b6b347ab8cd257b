// Measures at run time how many threads sort fastest; this depends on the processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/numbers.hpp"

namespace quadmill::detail::cpu {

// Times of one thread, and of waking others.
struct SortCosts {
    double sort_ns = 0;      // sorting n numbers takes sort_ns n log2(n)
    double cut_ns = 0;       // per number, dividing numbers by a pivot
    double handoff_us = 10;  // until other threads have begun, plus until this one knows that they have finished
    double wake_us = 4;      // in addition for each thread that is woken
};

// The number of threads, up to `threads`, that sort n numbers fastest if they divide the numbers among themselves.
// More than 1 only if a single thread takes at least a quarter longer.
[[nodiscard]] unsigned threads_that_gain(const SortCosts& costs, std::size_t n, unsigned threads);

// The same with the costs of this machine. The first call with many numbers of a width measures them, in well under a
// millisecond.
template <class Number>
[[nodiscard]] unsigned threads_that_gain_here(std::size_t n, unsigned threads);
extern template unsigned threads_that_gain_here<std::uint16_t>(std::size_t, unsigned);
extern template unsigned threads_that_gain_here<std::uint32_t>(std::size_t, unsigned);
extern template unsigned threads_that_gain_here<std::uint64_t>(std::size_t, unsigned);
extern template unsigned threads_that_gain_here<Wide>(std::size_t, unsigned);

}  // namespace quadmill::detail::cpu
