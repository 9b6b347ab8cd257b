// Radix sort of 64-bit items on CPU threads, beginning with the most significant bit that differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/workers.hpp"

namespace quadmill::detail::cpu {

// Sorts stably by the bits from `low_bit` on. `scratch` is as large as `items`. Bits that are the same in all items
// cost one scan in total.
void radix_sort(std::span<std::uint64_t> items, std::span<std::uint64_t> scratch, unsigned low_bit);
// radix_sort() on all threads.
void radix_sort(std::span<std::uint64_t> items, std::span<std::uint64_t> scratch, unsigned low_bit, Workers& workers);

}  // namespace quadmill::detail::cpu
