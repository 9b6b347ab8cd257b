// Divides numbers by a pivot, in place.
#pragma once

#include <cstddef>
#include <span>

namespace quadmill::detail::cpu {

// Moves the numbers that `goes` accepts to the front, and returns how many they are. No branch depends on a number.
template <class Number, class Goes>
std::size_t move_to_front(std::span<Number> numbers, const Goes& goes) {
    std::size_t count = 0;
    for (auto& number : numbers) {
        const auto moved = number;
        number = numbers[count];
        numbers[count] = moved;
        count += goes(moved) ? std::size_t{1} : std::size_t{0};
    }
    return count;
}

// Moves the numbers below the pivot to the front, and returns how many they are.
template <class Number>
std::size_t cut(std::span<Number> numbers, Number pivot) {
    return move_to_front(numbers, [&](const Number& number) { return number < pivot; });
}

template <class Number>
struct Pivot {
    Number number{};
    bool is_frequent = false;  // whether many numbers may be equal to it
};

// Numbers on both sides of a pivot. If it is frequent, the numbers equal to it are between them.
template <class Number>
struct Sides {
    std::span<Number> below, above;
};
template <class Number>
Sides<Number> divide(std::span<Number> numbers, const Pivot<Number>& pivot) {
    const auto below = cut(numbers, pivot.number);
    auto above = numbers.subspan(below);
    if (pivot.is_frequent)
        above = above.subspan(move_to_front(above, [&](const Number& n) { return !(pivot.number < n); }));
    return {numbers.first(below), above};
}

}  // namespace quadmill::detail::cpu
