// Powers of two that scale the elements of a matrix to the range of 32-bit floats, without rounding.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quadmill::detail::linalg {

// 2^exponent. Pre: it is a normal double.
[[nodiscard]] inline double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

// value * 2^exponent, like std::ldexp, with two multiplications. Saturates beyond |exponent| = 2044.
[[nodiscard]] inline double times_power(double value, int exponent) {
    exponent = std::clamp(exponent, -2044, 2044);
    const int half = exponent / 2;
    return value * power_of_two(half) * power_of_two(exponent - half);
}

// Element (i, j) is multiplied by 2^(rows[i] + columns[j]).
struct Scaling {
    std::vector<int> rows, columns;
    bool is_uniform = true;  // all rows have the same power and columns none, so that no pivot changes

    // Whether no scaling is needed.
    [[nodiscard]] bool is_identity() const { return is_uniform && (rows.empty() || rows.front() == 0); }
};

// No scaling if the elements are well within the range; otherwise one power for all if that suffices; otherwise powers
// that bring the largest element of each row and column near 1. Throws InvalidArgument for NaNs and infinities.
template <class Value>
[[nodiscard]] Scaling scaling_of(const std::string& where, std::span<const Value> values, std::size_t rows,
                                 std::size_t columns);

// Whether none of these values needs to be scaled.
[[nodiscard]] bool are_in_range(std::span<const float> values);

// Converts L and U of the matrix times 2^exponent to those of the matrix itself. Returns false and changes nothing if
// U's largest element would not be a float, or would lose digits.
[[nodiscard]] bool take_scaling_back(std::span<float> lu, std::size_t columns, int exponent);

// Multiplies values by powers of two that depend on the row and the right-hand side. Rows are taken in the given order.
template <class To, class From>
[[nodiscard]] std::vector<To> scaled_rows(std::span<const From> values, std::span<const std::uint32_t> order,
                                          std::span<const int> of_rows, std::span<const int> of_sides) {
    std::vector<To> made;
    made.reserve(values.size());
    for (const auto row : order) {
        for (std::size_t side = 0; side < of_sides.size(); ++side) {
            made.push_back(static_cast<To>(
                times_power(static_cast<double>(values[row * of_sides.size() + side]), of_rows[row] + of_sides[side])));
        }
    }
    return made;
}

// For each right-hand side, the exponent that scales its largest value to about 1 after rows are scaled.
template <class Value>
[[nodiscard]] std::vector<int> exponents_of(std::span<const Value> b, std::span<const int> of_rows, std::size_t sides);

// A matrix of the caller and its scaling; elements are scaled as they are read.
template <class Value>
struct ScaledMatrix {
    std::span<const Value> values;
    std::size_t rows, columns;
    const Scaling& scaling;

    // Calls take(j, element) for each column of a row. The order of multiplications keeps each product in range.
    template <class Take>
    void for_row(std::size_t row, const Take& take) const {
        const double of_row = power_of_two(scaling.rows[row]);
        const Value* const from = values.data() + row * columns;
        for (std::size_t j = 0; j < columns; ++j)
            take(j, static_cast<double>(from[j]) * of_row * power_of_two(scaling.columns[j]));
    }
};

}  // namespace quadmill::detail::linalg
