// Matrices beyond the range or the digits of floats: compares scaling, refinement in double, and estimates of
// conditions with Eigen's LU in double.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "linalg/cpu_lu.hpp"
#include "linalg/matrices.hpp"
#include "linalg/measures.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Doubles {
    std::size_t n;
    std::vector<double> values = std::vector<double>(n * n);
    [[nodiscard]] double& at(std::size_t i, std::size_t j) { return values[i * n + j]; }
    [[nodiscard]] DoubleMatrixView view() const { return {values, n, n}; }
    [[nodiscard]] Dense dense() const {
        return Eigen::Map<const Dense>(values.data(), static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
    }
};

Doubles random_doubles(std::size_t n, unsigned seed) {
    Doubles made{n};
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> value(-1, 1);
    for (auto& x : made.values) x = value(random);
    return made;
}

// A matrix with that condition in the 2-norm: singular values from 1 down to its inverse.
Doubles of_condition(std::size_t n, double condition, unsigned seed) {
    const auto size = static_cast<Eigen::Index>(n);
    const Eigen::HouseholderQR<Dense> left(random_doubles(n, seed).dense()), right(random_doubles(n, ~seed).dense());
    Eigen::VectorXd values(size);
    for (Eigen::Index i = 0; i < size; ++i)
        values(i) = std::pow(condition, -static_cast<double>(i) / std::max(1.0, static_cast<double>(n) - 1));
    const Dense product = Dense(left.householderQ()) * values.asDiagonal() * Dense(right.householderQ());
    return {n, {product.data(), product.data() + product.size()}};
}

double exact_condition(const Dense& a) {
    return a.cwiseAbs().colwise().sum().maxCoeff() * Dense(a.inverse()).cwiseAbs().colwise().sum().maxCoeff();
}

// b = A x, rounded about once.
std::vector<double> product(const Doubles& a, const std::vector<double>& x) {
    std::vector<double> b(a.n);
    for (std::size_t i = 0; i < a.n; ++i) {
        long double sum = 0;
        for (std::size_t j = 0; j < a.n; ++j)
            sum += static_cast<long double>(a.values[i * a.n + j]) * static_cast<long double>(x[j]);
        b[i] = static_cast<double>(sum);
    }
    return b;
}

double error_of(const std::vector<double>& found, const std::vector<double>& wanted) {
    double max = 0, size = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        max = std::max(max, std::abs(found[i] - wanted[i]));
        size = std::max(size, std::abs(wanted[i]));
    }
    return max / size;
}

}  // namespace

TEST_CASE("a matrix of doubles is refined in double, not rounded to floats") {
    Lu lu(context());
    const std::vector<double> one{16777217};
    lu.factor(DoubleMatrixView{one, 1, 1});
    std::vector<double> x(1);
    CHECK(lu.solve(DoubleMatrixView{one, 1, 1}, one, x).converged);
    CHECK(x[0] == 1);
    for (const std::size_t n : {2U, 3U, 10U, 33U, 100U}) {
        for (unsigned seed = 0; seed < 8; ++seed) {
            INFO("n = ", n, ", seed ", seed);
            const auto a = random_doubles(n, seed);
            const auto wanted = random_doubles(n, seed + 100).values;
            const std::vector<double> solution(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(n));
            std::vector<double> found(n);
            lu.factor(a.view());
            const auto refinement = lu.solve(a.view(), product(a, solution), found);
            CHECK(refinement.converged);
            CHECK(error_of(found, solution) <= 4 * exact_condition(a.dense()) * 0x1p-53);
        }
    }
}

TEST_CASE("conditions beyond floats are refined by a factorization in double, and estimated") {
    Lu lu(context());
    for (const double condition : {1e2, 1e5, 1e8, 1e11, 1e14}) {
        for (unsigned seed = 0; seed < 6; ++seed) {
            const std::size_t n = 5 + 11 * seed;
            INFO("condition ", condition, ", n = ", n);
            const auto a = of_condition(n, condition, seed);
            const double exact = exact_condition(a.dense());
            std::vector<double> solution(n, 1.0), found(n);
            lu.factor(a.view());
            const auto refinement = lu.solve(a.view(), product(a, solution), found);
            CHECK(refinement.converged);
            CHECK(error_of(found, solution) <= 4 * exact * 0x1p-53);
            if (condition >= 1e11) REQUIRE(refinement.condition);
            if (condition <= 1e5) CHECK(!refinement.condition);
            if (condition == 1e8) continue;  // beyond floats, but refinement may reach it: both results are possible
            const double estimate = refinement.condition.value_or(lu.condition(a.view()));
            CHECK(estimate <= exact * 1.1);
            CHECK(estimate >= exact / 10);
        }
    }
}

TEST_CASE("a matrix that is singular in floats is solved in double; one that is singular in double is refused") {
    Lu lu(context());
    const Doubles a{2, {1 + 0x1p-30, 1, 1, 1}};
    CHECK(lu.factor(a.view()).info == 2);
    CHECK(std::isinf(lu.condition(a.view())));
    std::vector<double> x(2);
    CHECK(lu.solve(a.view(), product(a, {1, 2}), x).converged);
    CHECK(error_of(x, {1, 2}) < 1e-6);  // the condition is 4e9
    const Doubles singular{2, {1, 2, 2, 4}};
    lu.factor(singular.view());
    CHECK_THROWS_WITH_AS(lu.solve(singular.view(), std::vector<double>{1, 1}, x),
                         "Lu::solve: the matrix is singular: pivot 2 is zero, also in double", Error);
}

TEST_CASE("elements near the ends of the range of floats, and of doubles") {
    for (const auto pivot : {Pivot::Partial, Pivot::Full, Pivot::Diagonal}) {
        Lu lu(context(), {.pivot = pivot});
        for (const float size : {3e38F, 1e-38F, 1e-41F}) {
            INFO("size ", size);
            const std::vector<float> a{size, size, -size, size};
            CHECK(lu.factor(MatrixView{a, 2, 2}).info == 0);
            CHECK(lu.determinant().log_magnitude == doctest::Approx(std::log(2.0) + 2 * std::log(size)));
            CHECK(lu.condition(MatrixView{a, 2, 2}) == doctest::Approx(2));
            CHECK(lu.solve(std::vector<float>{size, size}) == std::vector<float>{0, 1});
            const auto factors = lu.factors();
            CHECK(detail::linalg::residual_ratio(MatrixView{a, 2, 2}, factors) < 30);
            CHECK(factors.unscaled() == std::vector<double>{size, size, -1, 2 * static_cast<double>(size)});
            CHECK(factors.row_exponents.empty() == (size == 1e-38F));
        }
        for (const double size : {1e308, 1e-300, 1e100}) {
            INFO("size ", size);
            const Doubles a{2, {size, size, -size, size}};
            CHECK(lu.factor(a.view()).info == 0);
            std::vector<double> x(2);
            CHECK(lu.solve(a.view(), std::vector<double>{size, size}, x).converged);
            CHECK(x == std::vector<double>{0, 1});
        }
    }
}

TEST_CASE("rows and columns of any size") {
    std::mt19937 random(5);
    std::uniform_int_distribution<int> exponent(-450, 450);
    for (unsigned seed = 0; seed < 60; ++seed) {
        const std::size_t n = 2 + seed;
        INFO("n = ", n);
        const auto plain = random_doubles(n, seed);
        auto a = plain;
        std::vector<int> of_rows(n), of_columns(n);
        for (auto& one : of_rows) one = exponent(random);
        for (auto& one : of_columns) one = exponent(random);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) a.at(i, j) = std::ldexp(a.at(i, j), of_rows[i] + of_columns[j]);
        std::vector<double> solution(n), found(n);
        for (std::size_t i = 0; i < n; ++i) solution[i] = 1 + static_cast<double>(i) / 7;
        auto b = product(plain, solution);
        for (std::size_t i = 0; i < n; ++i) b[i] = std::ldexp(b[i], of_rows[i]);
        Lu lu(context());
        CHECK(lu.factor(a.view()).info == 0);
        const auto factors = lu.factors();
        CHECK(!factors.row_exponents.empty());
        CHECK(detail::linalg::residual_ratio(a.view(), factors) < 30);
        CHECK(lu.solve(a.view(), b, found).converged);
        for (std::size_t i = 0; i < n; ++i) found[i] = std::ldexp(found[i], of_columns[i]);
        CHECK(error_of(found, solution) < 64 * exact_condition(plain.dense()) * 0x1p-53);
    }
}

TEST_CASE("a small right-hand side next to a large one is refined as if it were alone") {
    const std::size_t n = 30;
    const auto a = random_doubles(n, 9);
    Lu lu(context());
    lu.factor(a.view());
    std::vector<double> both(2 * n), x(2 * n), small(n), alone(n);
    for (std::size_t i = 0; i < n; ++i) {
        small[i] = both[2 * i] = 1e-300 * std::cos(static_cast<double>(i));
        both[2 * i + 1] = 1e300 * std::sin(static_cast<double>(i));
    }
    CHECK(lu.solve(a.view(), both, x, 2).converged);
    CHECK(lu.solve(a.view(), small, alone).converged);
    for (std::size_t i = 0; i < n; ++i) CHECK(x[2 * i] == doctest::Approx(alone[i]).epsilon(1e-12).scale(0));
}

TEST_CASE("a component that is far smaller than the others is refined, too") {
    const Doubles a{2, {1, 0, 0, 1e-20}};
    const double third = 1e-20 / 3;
    std::vector<double> x(2);
    Lu lu(context());
    lu.factor(a.view());
    CHECK(lu.solve(a.view(), std::vector<double>{1, third}, x).converged);
    CHECK(x[1] == doctest::Approx(1.0 / 3).epsilon(1e-15));
}

TEST_CASE("without pivoting, the error for a zero pivot says that pivoting is needed") {
    const std::vector<float> a{0, 1, 1, 0};
    Lu lu(context(), {.pivot = Pivot::Diagonal});
    CHECK(lu.factor(MatrixView{a, 2, 2}).info == 1);
    CHECK_THROWS_WITH_AS(static_cast<void>(lu.solve(std::vector<float>{1, 2})),
                         "Lu::solve: pivot 1 is zero, so the matrix needs pivoting, or is singular", Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(lu.determinant()),
                         "Lu::determinant: pivot 1 is zero, so the matrix needs pivoting, or is singular", Error);
    std::vector<double> x(2);
    CHECK(lu.solve(MatrixView{a, 2, 2}, std::vector<double>{1, 2}, x).converged);  // in double, with pivoting
    CHECK(x == std::vector<double>{2, 1});
}

TEST_CASE("a solution that does not fit into floats is refused, and found in double") {
    const std::vector<float> a{1e-30F};
    Lu lu(context());
    lu.factor(MatrixView{a, 1, 1});
    CHECK_THROWS_AS(static_cast<void>(lu.solve(std::vector<float>{1e30F})), Error);
    std::vector<double> x(1);
    CHECK(lu.solve(MatrixView{a, 1, 1}, std::vector<double>{1e30}, x).converged);
    CHECK(x[0] == doctest::Approx(1e60));
}

TEST_CASE("the CPU's factorization equals Eigen's") {
    const detail::cpu::Workers workers;
    for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
             {1, 1}, {7, 7}, {64, 64}, {65, 65}, {200, 200}, {90, 150}, {150, 90}}) {
        const auto shown = text_of(rows, " x ", columns);
        INFO(shown);
        const auto a = random_matrix(rows, columns, 77);
        Factors factors{.lu = a.values};
        factors.columns.resize(columns);
        for (std::uint32_t j = 0; j < columns; ++j) factors.columns[j] = j;
        CHECK(detail::linalg::factor_on_cpu<float>(workers, factors.lu, rows, columns, factors.rows) == 0);
        CHECK(lu_ratio(a, factors) < 30);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < std::min(i, columns); ++j) CHECK(std::abs(factors.lu[i * columns + j]) <= 1);
    }
}
