// Radix sort of 64-bit items on the CPU's threads, from the most significant bit that differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/workers.hpp"

namespace quadmill::detail::cpu {

// Sorts by the bits from `low_bit` on, stably. Scratch memory is as large as the items. Bits that all items have in
// common cost one scan, for any number of them.
void radix_sort(std::span<std::uint64_t> items, std::span<std::uint64_t> scratch, unsigned low_bit);
// radix_sort() on all threads.
void radix_sort(std::span<std::uint64_t> items, std::span<std::uint64_t> scratch, unsigned low_bit, Workers& workers);

}  // namespace quadmill::detail::cpu
