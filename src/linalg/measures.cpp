#include "linalg/measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "linalg/refinement.hpp"

namespace quadmill::detail::linalg {

namespace {

// Identity if the factors are not scaled.
Scaling scaling_of(std::size_t rows, std::size_t columns, const Factors& factors) {
    if (factors.row_exponents.empty()) return {std::vector<int>(rows), std::vector<int>(columns)};
    return {factors.row_exponents, factors.column_exponents};
}

// L (U z) - P A Q z.
template <class Value>
std::vector<double> difference(const ScaledMatrix<Value>& matrix, const Factors& factors,
                               const std::vector<double>& z) {
    const auto rows = matrix.rows, columns = matrix.columns;
    const auto steps = std::min(rows, columns);
    std::vector<double> by_u(steps), left(rows);
    std::vector<std::size_t> positions(columns);
    for (std::size_t j = 0; j < columns; ++j) positions[factors.columns[j]] = j;
    for (std::size_t i = 0; i < steps; ++i) {
        for (auto j = i; j < columns; ++j) by_u[i] += factors.lu[i * columns + j] * z[j];
    }
    for (std::size_t i = 0; i < rows; ++i) {
        if (i < steps) left[i] = by_u[i];
        for (std::size_t j = 0; j < std::min(i, steps); ++j) left[i] += factors.lu[i * columns + j] * by_u[j];
        matrix.for_row(factors.rows[i], [&](std::size_t j, double value) { left[i] -= value * z[positions[j]]; });
    }
    return left;
}

template <class Value>
double ratio_of(const ScaledMatrix<Value>& matrix, const Factors& factors) {
    if (matrix.values.empty()) return 0;
    constexpr int vectors = 3;
    constexpr double eps = 0x1p-24;
    std::mt19937 random(1);
    const double norm = one_norm(matrix), n = static_cast<double>(matrix.columns);
    double max = 0;
    for (int v = 0; v < vectors; ++v) {
        std::vector<double> z(matrix.columns);
        for (auto& x : z) x = random() % 2 == 0 ? 1 : -1;
        double sum = 0;
        for (const double x : difference(matrix, factors, z)) sum += std::abs(x);
        const double ratio = norm > 0 ? sum / n / (n * norm * eps) : sum / eps;
        max = std::isnan(ratio) ? INFINITY : std::max(max, ratio);
    }
    return max;
}

template <class Value>
double growth_of(const ScaledMatrix<Value>& matrix, const Factors& factors) {
    double max = 0, max_of_u = 0;
    for (std::size_t i = 0; i < matrix.rows; ++i)
        matrix.for_row(i, [&](std::size_t, double value) { max = std::max(max, std::abs(value)); });
    for (std::size_t i = 0; i < std::min(matrix.rows, matrix.columns); ++i) {
        for (auto j = i; j < matrix.columns; ++j)
            max_of_u = std::max(max_of_u, std::abs(static_cast<double>(factors.lu[i * matrix.columns + j])));
    }
    return max > 0 ? max_of_u / max : 1;
}

}  // namespace

double residual_ratio(MatrixView matrix, const Factors& factors) {
    const auto scaling = scaling_of(matrix.rows, matrix.columns, factors);
    return ratio_of<float>({matrix.values, matrix.rows, matrix.columns, scaling}, factors);
}

double residual_ratio(DoubleMatrixView matrix, const Factors& factors) {
    const auto scaling = scaling_of(matrix.rows, matrix.columns, factors);
    return ratio_of<double>({matrix.values, matrix.rows, matrix.columns, scaling}, factors);
}

double residual_ratio(std::span<const float> matrices, const BatchFactors& factors, std::size_t n) {
    Factors one;
    one.columns.resize(n);
    std::iota(one.columns.begin(), one.columns.end(), 0U);
    double max = 0;
    for (std::size_t at = 0; at < factors.rows.size(); at += n) {
        const auto lu = std::span(factors.lu).subspan(at * n, n * n);
        const auto rows = std::span(factors.rows).subspan(at, n);
        one.lu.assign(lu.begin(), lu.end());
        one.rows.assign(rows.begin(), rows.end());
        if (!factors.row_exponents.empty()) {
            const auto of_rows = std::span(factors.row_exponents).subspan(at, n);
            const auto of_columns = std::span(factors.column_exponents).subspan(at, n);
            one.row_exponents.assign(of_rows.begin(), of_rows.end());
            one.column_exponents.assign(of_columns.begin(), of_columns.end());
        }
        max = std::max(max, residual_ratio({matrices.subspan(at * n, n * n), n, n}, one));
    }
    return max;
}

double growth(MatrixView matrix, const Factors& factors) {
    const auto scaling = scaling_of(matrix.rows, matrix.columns, factors);
    return growth_of<float>({matrix.values, matrix.rows, matrix.columns, scaling}, factors);
}

double growth(DoubleMatrixView matrix, const Factors& factors) {
    const auto scaling = scaling_of(matrix.rows, matrix.columns, factors);
    return growth_of<double>({matrix.values, matrix.rows, matrix.columns, scaling}, factors);
}

}  // namespace quadmill::detail::linalg
