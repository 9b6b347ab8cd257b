#include "linalg/measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace quadmill::detail::linalg {

namespace {

double one_norm(MatrixView matrix) {
    std::vector<double> sums(matrix.columns);
    for (std::size_t i = 0; i < matrix.values.size(); ++i)
        sums[i % matrix.columns] += std::abs(static_cast<double>(matrix.values[i]));
    return sums.empty() ? 0 : *std::ranges::max_element(sums);
}

// L (U z) - P A Q z.
std::vector<double> difference(MatrixView matrix, const Factors& factors, const std::vector<double>& z) {
    const auto [values, rows, columns] = matrix;
    const auto steps = std::min(rows, columns);
    std::vector<double> by_u(steps), left(rows);
    for (std::size_t i = 0; i < steps; ++i) {
        for (auto j = i; j < columns; ++j) by_u[i] += factors.lu[i * columns + j] * z[j];
    }
    for (std::size_t i = 0; i < rows; ++i) {
        if (i < steps) left[i] = by_u[i];
        for (std::size_t j = 0; j < std::min(i, steps); ++j) left[i] += factors.lu[i * columns + j] * by_u[j];
        const auto row = values.subspan(factors.rows[i] * columns, columns);
        for (std::size_t j = 0; j < columns; ++j) left[i] -= row[factors.columns[j]] * z[j];
    }
    return left;
}

}  // namespace

double residual_ratio(MatrixView matrix, const Factors& factors) {
    if (matrix.values.empty()) return 0;
    constexpr int vectors = 3;
    constexpr double eps = 0x1p-24;
    std::mt19937 random(1);
    const double norm = one_norm(matrix), n = static_cast<double>(matrix.columns);
    double most = 0;
    for (int v = 0; v < vectors; ++v) {
        std::vector<double> z(matrix.columns);
        for (auto& x : z) x = random() % 2 == 0 ? 1 : -1;
        double sum = 0;
        for (const double x : difference(matrix, factors, z)) sum += std::abs(x);
        const double ratio = norm > 0 ? sum / n / (n * norm * eps) : sum / eps;
        most = std::isnan(ratio) ? INFINITY : std::max(most, ratio);
    }
    return most;
}

double residual_ratio(std::span<const float> matrices, const BatchFactors& factors, std::size_t n) {
    Factors one;
    one.columns.resize(n);
    std::iota(one.columns.begin(), one.columns.end(), 0U);
    double most = 0;
    for (std::size_t at = 0; at < factors.rows.size(); at += n) {
        const auto lu = std::span(factors.lu).subspan(at * n, n * n);
        const auto rows = std::span(factors.rows).subspan(at, n);
        one.lu.assign(lu.begin(), lu.end());
        one.rows.assign(rows.begin(), rows.end());
        most = std::max(most, residual_ratio({matrices.subspan(at * n, n * n), n, n}, one));
    }
    return most;
}

double growth(MatrixView matrix, const Factors& factors) {
    double most = 0, most_of_u = 0;
    for (const float value : matrix.values) most = std::max(most, std::abs(static_cast<double>(value)));
    for (std::size_t i = 0; i < std::min(matrix.rows, matrix.columns); ++i) {
        for (auto j = i; j < matrix.columns; ++j)
            most_of_u = std::max(most_of_u, std::abs(static_cast<double>(factors.lu[i * matrix.columns + j])));
    }
    return most > 0 ? most_of_u / most : 1;
}

}  // namespace quadmill::detail::linalg
