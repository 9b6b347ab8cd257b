// Matrices to factorize, and LAPACK's measure of a factorization.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gl/device.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::test {

// For messages: Clang 14 lets INFO name no structured bindings.
template <class... Parts>
std::string text_of(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    return text.str();
}

// One context for all tests.
inline Context context() {
    static const auto opened = Context::headless();
    return opened;
}

// Pretends that textures are smaller, for the length of a scope, so that matrices that do not fit need no memory.
class SmallTextures {
  public:
    explicit SmallTextures(int size) : max_(detail::Access::of(opened_)->info.max_texture_size), before_(max_) {
        max_ = size;
    }
    SmallTextures(const SmallTextures&) = delete;
    SmallTextures& operator=(const SmallTextures&) = delete;
    ~SmallTextures() { max_ = before_; }

  private:
    Context opened_ = context();
    int& max_;
    const int before_;
};

struct Matrix {
    std::size_t rows, columns;
    std::vector<float> values = std::vector<float>(rows * columns);
    [[nodiscard]] float& at(std::size_t i, std::size_t j) { return values[i * columns + j]; }
    [[nodiscard]] float at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
    [[nodiscard]] MatrixView view() const { return {values, rows, columns}; }
};

inline Matrix random_matrix(std::size_t rows, std::size_t columns, unsigned seed) {
    Matrix made{rows, columns};
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> value(-1, 1);
    for (auto& x : made.values) x = value(random);
    return made;
}

// The largest column sum of absolute values.
inline double one_norm(std::size_t rows, std::size_t columns, const std::vector<double>& values) {
    double max = 0;
    for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += std::abs(values[i * columns + j]);
        max = std::isnan(sum) ? INFINITY : std::max(max, sum);
    }
    return max;
}

// |L U - P A Q| / (n |A| eps) in 1-norms, with sums in double; n is the number of columns, as in LAPACK's SGET01.
inline double lu_ratio(const Matrix& a, const Factors& factors) {
    const auto rows = a.rows, columns = a.columns, steps = std::min(rows, columns);
    if (steps == 0) return 0;
    std::vector<double> difference(rows * columns), original(a.values.begin(), a.values.end());
    for (std::size_t i = 0; i < rows; ++i) {
        double* const out = difference.data() + i * columns;
        for (std::size_t j = 0; j < columns; ++j)
            out[j] = -static_cast<double>(a.at(factors.rows[i], factors.columns[j]));
        for (std::size_t k = 0; k < std::min(i + 1, steps); ++k) {
            const double l = k == i ? 1.0 : factors.lu[i * columns + k];
            for (auto j = k; j < columns; ++j) out[j] += l * factors.lu[k * columns + j];
        }
    }
    const double norm = one_norm(rows, columns, original), left = one_norm(rows, columns, difference);
    constexpr double eps = 0x1p-24;
    return norm > 0 ? left / norm / static_cast<double>(columns) / eps : left / eps;
}

}  // namespace quadmill::test
