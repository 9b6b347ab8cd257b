#include "linalg/scaling.hpp"

#include <cmath>
#include <limits>

#include "linalg/matrix_texture.hpp"

namespace quadmill::detail::linalg {

namespace {

// Elements between 2^-comfort and 2^comfort leave room for the growth of factors and for products.
constexpr int comfort = 60;
// Max exponent of a row or column, so that its power is a double, and 2^limit times a subnormal is far from underflow.
constexpr int limit = 1000;

struct Range {
    double min = std::numeric_limits<double>::infinity();  // without zeros
    double max = 0;
    bool is_finite = true;

    void add(double value) {
        const double size = std::abs(value);
        if (size > max) max = size;
        if (size < min && size > 0) min = size;
        is_finite &= std::isfinite(value);
    }
};

int exponent_of(double size) {
    return std::clamp(-std::ilogb(size), -limit, limit);
}

template <class Value>
Scaling by_rows_and_columns(std::span<const Value> values, std::size_t rows, std::size_t columns) {
    Scaling found{std::vector<int>(rows), std::vector<int>(columns), false};
    std::vector<double> max(columns);
    for (std::size_t i = 0; i < rows; ++i) {
        double of_row = 0;
        for (const auto value : values.subspan(i * columns, columns))
            of_row = std::max(of_row, std::abs(static_cast<double>(value)));
        if (of_row > 0) found.rows[i] = exponent_of(of_row);
        const double power = power_of_two(found.rows[i]);
        for (std::size_t j = 0; j < columns; ++j)
            max[j] = std::max(max[j], std::abs(static_cast<double>(values[i * columns + j])) * power);
    }
    for (std::size_t j = 0; j < columns; ++j)
        if (max[j] > 0) found.columns[j] = exponent_of(max[j]);
    return found;
}

}  // namespace

template <class Value>
Scaling scaling_of(const std::string& where, std::span<const Value> values, std::size_t rows, std::size_t columns) {
    Range range;
    for (const auto value : values) range.add(static_cast<double>(value));
    if (!range.is_finite) check_finite(where, values, columns);
    Scaling found{std::vector<int>(rows), std::vector<int>(columns)};
    if (range.max == 0) return found;
    const int min = std::ilogb(range.min), max = std::ilogb(range.max);
    if (min >= -comfort && max <= comfort) return found;
    if (max - min > 2 * comfort) return by_rows_and_columns(values, rows, columns);
    std::ranges::fill(found.rows, std::clamp(std::max(-max, -comfort - min), -limit, limit));
    return found;
}

bool are_in_range(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) {
        constexpr float max = 0x1p61F, min = 0x1p-60F;
        const float size = std::abs(value);
        return size < max && (size >= min || size == 0);
    });
}

bool take_scaling_back(std::span<float> lu, std::size_t columns, int exponent) {
    const auto in_u = [&](std::size_t index) { return index % columns >= index / columns; };
    float max = 0;
    for (std::size_t i = 0; i < lu.size(); ++i)
        if (in_u(i)) max = std::max(max, std::abs(lu[i]));
    if (!std::isnormal(static_cast<float>(times_power(max, -exponent)))) return false;
    for (std::size_t i = 0; i < lu.size(); ++i)
        if (in_u(i)) lu[i] = static_cast<float>(times_power(lu[i], -exponent));
    return true;
}

template <class Value>
std::vector<int> exponents_of(std::span<const Value> b, std::span<const int> of_rows, std::size_t sides) {
    constexpr int none = std::numeric_limits<int>::min();
    std::vector<int> max(sides, none);
    for (std::size_t i = 0; i < b.size(); ++i)
        if (b[i] != 0) max[i % sides] = std::max(max[i % sides], std::ilogb(b[i]) + of_rows[i / sides]);
    for (auto& exponent : max) exponent = exponent == none ? 0 : -exponent;
    return max;
}
template std::vector<int> exponents_of(std::span<const float>, std::span<const int>, std::size_t);
template std::vector<int> exponents_of(std::span<const double>, std::span<const int>, std::size_t);

template Scaling scaling_of(const std::string&, std::span<const float>, std::size_t, std::size_t);
template Scaling scaling_of(const std::string&, std::span<const double>, std::size_t, std::size_t);

}  // namespace quadmill::detail::linalg
