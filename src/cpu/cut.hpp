// Divides numbers by a pivot, in place.
#pragma once

#include <cstddef>
#include <span>

namespace quadmill::detail::cpu {

// Moves the numbers below the pivot to the front, and returns how many they are. No branch depends on a number.
template <class Number>
std::size_t cut(std::span<Number> numbers, Number pivot) {
    std::size_t below = 0;
    for (auto& number : numbers) {
        const auto moved = number;
        number = numbers[below];
        numbers[below] = moved;
        below += moved < pivot ? std::size_t{1} : std::size_t{0};
    }
    return below;
}

}  // namespace quadmill::detail::cpu
