// Sorts plain signed numbers, as numbers.hpp sorts unsigned ones.
#pragma once

#include <cstdint>
#include <span>

namespace quadmill::detail::cpu {

void sort_numbers(std::span<std::int16_t> numbers);
void sort_numbers(std::span<std::int32_t> numbers);
void sort_numbers(std::span<std::int64_t> numbers);

}  // namespace quadmill::detail::cpu
