// Sorts plain unsigned numbers; every sort on the CPU uses it. It uses Highway's vqsort if that was built in
// (numbers_by_vqsort.cpp), otherwise std::sort (numbers_by_std.cpp).
#pragma once

#include <compare>
#include <cstdint>
#include <span>

namespace quadmill::detail::cpu {

// 128 bits, ordered by the upper half first.
struct alignas(16) Wide {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Wide&) const = default;
    std::strong_ordering operator<=>(const Wide& other) const {
        const auto by_high = high <=> other.high;
        return std::is_neq(by_high) ? by_high : low <=> other.low;
    }
};

// Sorts in ascending order, in place, on the calling thread. Several threads may call it at the same time.
void sort_numbers(std::span<std::uint16_t> numbers);
void sort_numbers(std::span<std::uint32_t> numbers);
void sort_numbers(std::span<std::uint64_t> numbers);
void sort_numbers(std::span<Wide> numbers);

// "vqsort" or "std::sort".
[[nodiscard]] const char* number_sort_name();

}  // namespace quadmill::detail::cpu
