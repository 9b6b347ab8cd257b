// LU with every way of pivoting, swapping and blocking: LAPACK's residual and kinds of matrices, singular ones, and
// uses of the factors.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "linalg/matrices.hpp"
#include "linalg/measures.hpp"
#include "linalg/poison.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

struct Way {
    const char* name;
    LuOptions options;
};
const std::vector<Way>& ways() {
    static const std::vector<Way> all{
        {"none, rows", {.pivot = Pivot::Diagonal, .block = 1}},
        {"none, blocks", {.pivot = Pivot::Diagonal, .block = 16}},
        {"partial, pointers", {.pivot = Pivot::Partial, .swap = Swap::Pointer, .block = 1}},
        {"partial, copies", {.pivot = Pivot::Partial, .swap = Swap::Copy, .block = 1}},
        {"partial, blocks of 8 in scalars", {.pivot = Pivot::Partial, .block = 8, .layout = Layout::Scalars}},
        {"partial, blocks of 16 in tiles", {.pivot = Pivot::Partial, .block = 16}},
        {"partial, blocks of 32 in tiles", {.pivot = Pivot::Partial, .block = 32}},
        {"partial, blocks of 32 in scalars", {.pivot = Pivot::Partial, .block = 32, .layout = Layout::Scalars}},
        {"full, pointers", {.pivot = Pivot::Full, .swap = Swap::Pointer}},
        {"full, copies", {.pivot = Pivot::Full, .swap = Swap::Copy}}};
    return all;
}

bool is_permutation_of_places(std::vector<std::uint32_t> places, std::size_t size) {
    std::ranges::sort(places);
    std::vector<std::uint32_t> all(size);
    std::iota(all.begin(), all.end(), 0U);
    return places == all;
}

// Only these are stable without pivoting.
Matrix dominant(Matrix matrix) {
    for (std::size_t i = 0; i < std::min(matrix.rows, matrix.columns); ++i)
        matrix.at(i, i) += static_cast<float>(std::max(matrix.rows, matrix.columns));
    return matrix;
}

double max_lower(const Factors& factors, std::size_t columns) {
    double max = 0;
    for (std::size_t i = 0; i < factors.rows.size(); ++i) {
        for (std::size_t j = 0; j < std::min(i, columns); ++j)
            max = std::max(max, std::abs(static_cast<double>(factors.lu[i * columns + j])));
    }
    return max;
}

}  // namespace

TEST_CASE("no texel is read before a pass wrote it") {
    auto opened = context();
    for (const auto& [name, options] : ways()) {
        for (const auto& [rows, columns] :
             std::vector<std::pair<std::size_t, std::size_t>>{{45, 45}, {41, 70}, {70, 41}}) {
            const auto shown = text_of(name, ", ", rows, " x ", columns);
            INFO(shown);
            auto a = random_matrix(rows, columns, 8);
            if (options.pivot == Pivot::Diagonal) a = dominant(a);
            Lu lu(opened, options);
            Poison poison(opened);
            CHECK(lu.factor(a.view()).info == 0);
            CHECK(lu_ratio(a, lu.factors()) < 30);
            if (rows == columns) {
                for (const float x : lu.inverse()) CHECK(std::isfinite(x));
            }
            CHECK(poison.poisoned > 2);
        }
    }
}

TEST_CASE("factors multiply to the matrix for every shape and method") {
    for (const auto& [name, options] : ways()) {
        Lu lu(context(), options);
        for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{{0, 0},
                                                                                            {0, 3},
                                                                                            {2, 0},
                                                                                            {1, 1},
                                                                                            {2, 2},
                                                                                            {3, 3},
                                                                                            {5, 5},
                                                                                            {10, 10},
                                                                                            {1, 50},
                                                                                            {50, 1},
                                                                                            {10, 50},
                                                                                            {50, 10},
                                                                                            {31, 33},
                                                                                            {33, 31},
                                                                                            {32, 32},
                                                                                            {64, 64},
                                                                                            {65, 65}}) {
            const auto shown = text_of(name, ", ", rows, " x ", columns);
            INFO(shown);
            auto a = random_matrix(rows, columns, 7);
            if (options.pivot == Pivot::Diagonal) a = dominant(a);
            const auto stats = lu.factor(a.view());
            const auto factors = lu.factors();
            CHECK(stats.info == 0);
            REQUIRE(factors.lu.size() == rows * columns);
            CHECK(is_permutation_of_places(factors.rows, rows));
            CHECK(is_permutation_of_places(factors.columns, columns));
            CHECK(lu_ratio(a, factors) < 30);
            if (options.pivot != Pivot::Diagonal) CHECK(max_lower(factors, columns) <= 1.0 + 1e-6);
        }
    }
}

TEST_CASE("larger matrices") {
    for (const auto& [name, options] : ways()) {
        Lu lu(context(), options);
        const std::size_t n = options.pivot == Pivot::Full ? 130 : 257;
        const auto shown = text_of(name);
        INFO(shown);
        auto a = random_matrix(n, n, 11);
        if (options.pivot == Pivot::Diagonal) a = dominant(a);
        CHECK(lu.factor(a.view()).info == 0);
        CHECK(lu_ratio(a, lu.factors()) < 30);
    }
    Lu lu(context());
    const auto a = random_matrix(1024, 1024, 12);
    CHECK(lu.factor(a.view()).info == 0);
    CHECK(lu_ratio(a, lu.factors()) < 30);
}

TEST_CASE("a matrix of 2,048 rows") {
    Lu lu(context());
    const auto a = random_matrix(2048, 2048, 13);
    CHECK(lu.factor(a.view()).info == 0);
    CHECK(detail::linalg::residual_ratio(a.view(), lu.factors()) < 30);  // the estimate, since n^3 would take too long
}

TEST_CASE("tall and wide matrices: searches of any number of parts") {
    for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
             {255, 9}, {257, 9}, {1023, 40}, {1025, 40}, {4097, 35}, {5000, 9}, {9, 5000}, {40, 1025}}) {
        const auto shown = text_of(rows, " x ", columns);
        INFO(shown);
        const auto a = random_matrix(rows, columns, 15);
        Lu lu(context());
        CHECK(lu.factor(a.view()).info == 0);
        const auto factors = lu.factors();
        CHECK(is_permutation_of_places(factors.rows, rows));
        CHECK(lu_ratio(a, factors) < 30);
        CHECK(max_lower(factors, columns) <= 1.0 + 1e-6);
    }
}

TEST_CASE("the estimated residual is at most LAPACK's, and finds the same errors") {
    const auto a = random_matrix(100, 100, 14);
    Lu lu(context());
    lu.factor(a.view());
    auto factors = lu.factors();
    CHECK(detail::linalg::residual_ratio(a.view(), factors) <= lu_ratio(a, factors));
    factors.lu[57 * 100 + 31] += 0.1F;
    CHECK(lu_ratio(a, factors) > 30);
    CHECK(detail::linalg::residual_ratio(a.view(), factors) > 30);
}

TEST_CASE("quotients are within the 2.5 units in the last place that GLSL allows, whatever the pivot's size") {
    // For a matrix of one column, L is the column divided by its first element. Drivers differ; this prints the result.
    for (const auto& [name, options] : ways()) {
        if (options.pivot != Pivot::Diagonal) continue;
        double worst = 0;
        std::size_t exact = 0, all = 0;
        for (const int exponent : {-125, -64, -1, 0, 1, 63, 65, 126}) {
            auto a = random_matrix(1000, 1, 61);
            for (auto& x : a.values) x = std::ldexp(x + std::copysign(0.5F, x), exponent);
            a.values[0] = std::ldexp(1 + 0x1.8p-3F + static_cast<float>(exponent) * 0x1p-12F, exponent);
            Lu lu(context(), options);
            lu.factor(a.view());
            const auto found = lu.factors().lu;
            for (std::size_t i = 1; i < found.size(); ++i) {
                const double quotient = static_cast<double>(a.values[i]) / a.values[0];
                const double unit = std::ldexp(1.0, std::ilogb(quotient) - 23);
                worst = std::max(worst, std::abs(found[i] - quotient) / unit);
                exact += found[i] == static_cast<float>(quotient) ? 1U : 0U;
                ++all;
            }
        }
        MESSAGE(std::string(name), ": ", exact, " of ", all, " quotients are rounded right, the worst is ", worst,
                " units off");
        CHECK(worst <= 2.5);
    }
}

TEST_CASE("pivots equal Eigen's") {
    for (const auto& [name, options] : ways()) {
        if (options.pivot != Pivot::Partial) continue;
        const auto shown = text_of(name);
        INFO(shown);
        const std::size_t n = 60;
        const auto a = random_matrix(n, n, 3);
        Lu lu(context(), options);
        lu.factor(a.view());
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        const RowMajor matrix = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                                    a.values.data(), n, n)
                                    .cast<double>();
        const Eigen::PartialPivLU<RowMajor> oracle(matrix);
        const auto factors = lu.factors();
        for (std::size_t i = 0; i < n; ++i)
            CHECK(oracle.permutationP().indices()(static_cast<Eigen::Index>(factors.rows[i])) == static_cast<int>(i));
        for (std::size_t i = 0; i < n * n; ++i)
            CHECK(factors.lu[i] == doctest::Approx(oracle.matrixLU().data()[i]).epsilon(1e-3).scale(0.05));
    }
}

TEST_CASE("among equal pivots the first row in the current order wins") {
    // Hadamard's matrices with rows in any order: exact in floats, and with many ties.
    for (const std::size_t n : {8U, 16U, 64U}) {
        for (unsigned seed = 0; seed < 4; ++seed) {
            std::vector<std::size_t> order(n);
            std::iota(order.begin(), order.end(), 0U);
            std::ranges::shuffle(order, std::mt19937(seed));
            Matrix a{n, n};
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) a.at(i, j) = std::popcount(order[i] & j) % 2 == 0 ? 1.0F : -1.0F;
            }
            Eigen::MatrixXd matrix(n, n);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j)
                    matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = a.at(i, j);
            }
            const Eigen::PartialPivLU<Eigen::MatrixXd> oracle(matrix);
            std::vector<std::uint32_t> wanted(n);
            for (std::uint32_t i = 0; i < n; ++i)
                wanted[static_cast<std::size_t>(oracle.permutationP().indices()(static_cast<Eigen::Index>(i)))] = i;
            for (const auto& [name, options] : ways()) {
                if (options.pivot != Pivot::Partial) continue;
                const auto shown = text_of(name, ", n = ", n, ", seed ", seed);
                INFO(shown);
                Lu lu(context(), options);
                CHECK(lu.factor(a.view()).info == 0);
                CHECK(lu.factors().rows == wanted);
            }
            if (n > LuBatch::max_n) continue;
            LuBatch batch(context());
            batch.factor(a.values, n);
            CHECK(batch.factors().rows == wanted);
        }
    }
}

TEST_CASE("full pivoting takes the largest of all remaining elements, so U's diagonal descends") {
    for (const auto swap : {Swap::Pointer, Swap::Copy}) {
        const auto a = random_matrix(40, 40, 5);
        Lu lu(context(), {.pivot = Pivot::Full, .swap = swap});
        lu.factor(a.view());
        const auto factors = lu.factors();
        const auto largest = *std::ranges::max_element(a.values, {}, [](float x) { return std::abs(x); });
        CHECK(factors.lu[0] == largest);
        for (std::size_t i = 0; i < 40; ++i) {
            for (auto j = i; j < 40; ++j) CHECK(std::abs(factors.lu[i * 40 + j]) <= std::abs(factors.lu[i * 40 + i]));
        }
    }
}

TEST_CASE("the number of passes is as documented") {
    const auto a = random_matrix(64, 64, 1);
    const auto passes = [&](const LuOptions& options) { return Lu(context(), options).factor(a.view()).passes; };
    CHECK(passes({.pivot = Pivot::Diagonal, .block = 1}) == 63 + 2);  // plus pointers and the last gather
    CHECK(passes({.pivot = Pivot::Partial, .swap = Swap::Pointer, .block = 1}) <
          64 * 4 + 2);  // search, fold, swap, eliminate
    CHECK(passes({.pivot = Pivot::Partial, .swap = Swap::Copy, .block = 1}) < 64 * 7 + 2);  // plus three to copy
    // A panel takes one search per column, one elimination per four columns, and some more.
    CHECK(passes({.pivot = Pivot::Partial, .block = 32}) <= 64 + 16 + 20);
    CHECK(passes({.pivot = Pivot::Diagonal, .block = 32}) <= 16 + 20);
}

TEST_CASE("matrices of LAPACK's tests") {
    const std::size_t n = 50;
    for (const auto& [name, options] : ways()) {
        if (options.pivot == Pivot::Diagonal) continue;
        Lu lu(context(), options);
        const auto check = [&, &called = name, &way = options](const char* kind, const Matrix& a, std::size_t info) {
            const auto shown = text_of(called, ": ", kind);
            INFO(shown);
            const auto stats = lu.factor(a.view());
            const auto factors = lu.factors();
            if (way.pivot == Pivot::Full) {
                CHECK((stats.info != 0) == (info != 0));
            } else {
                CHECK(stats.info == info);
            }
            CHECK(std::ranges::all_of(factors.lu, [](float x) { return std::isfinite(x); }));
            CHECK(lu_ratio(a, factors) < 30);
        };
        auto a = random_matrix(n, n, 21);
        for (std::size_t i = 0; i < n; ++i) a.at(i, 0) = 0;
        check("first column zero", a, 1);
        a = random_matrix(n, n, 22);
        for (std::size_t i = 0; i < n; ++i) a.at(i, n - 1) = 0;
        check("last column zero", a, n);
        a = random_matrix(n, n, 23);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = n / 2; j < n; ++j) a.at(i, j) = 0;
        }
        check("last n / 2 columns zero", a, n / 2 + 1);
        check("all zero", Matrix{n, n}, 1);
        for (const float scale : {0x1p-95F, 0x1p100F, 0x1p125F}) {
            a = random_matrix(n, n, 24);
            for (auto& x : a.values) x *= scale;
            check(("scaled by " + std::to_string(std::log2(scale))).c_str(), a, 0);
        }
        a = random_matrix(n, n, 25);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j)
                a.at(i, j) *= std::ldexp(1.0F, static_cast<int>(i) / 2 - static_cast<int>(j) / 2);
        }
        check("graded", a, 0);
        a = Matrix{12, 12};
        for (std::size_t i = 0; i < 12; ++i) {
            for (std::size_t j = 0; j < 12; ++j) a.at(i, j) = 1.0F / static_cast<float>(i + j + 1);
        }
        CHECK(lu.factor(a.view()).rows == 12);
        CHECK(lu_ratio(a, lu.factors()) < 30);  // Hilbert's matrix, nearly singular
        a = Matrix{n, n};
        for (std::size_t i = 0; i < n; ++i) a.at(i, (i * 7 + 3) % n) = static_cast<float>(i + 1);
        check("a permutation, scaled", a, 0);
    }
}

TEST_CASE("without pivoting, a zero on the diagonal is reported and gives no NaN") {
    for (const std::size_t block : {1U, 8U}) {
        auto a = random_matrix(20, 20, 31);
        a.at(0, 0) = 0;
        Lu lu(context(), {.pivot = Pivot::Diagonal, .block = block});
        CHECK(lu.factor(a.view()).info == 1);
        CHECK(std::ranges::all_of(lu.factors().lu, [](float x) { return std::isfinite(x); }));
    }
}

TEST_CASE("denormals count as zero") {
    // For the scaled matrix: 1e-40 next to 1 is scaled to 0, but not the remainders of elimination.
    for (const auto& [name, options] : ways()) {
        const auto shown = text_of(name);
        INFO(shown);
        Matrix a{2, 2};
        a.values = {1e-40F, 0, 0, 1};
        Lu lu(context(), options);
        CHECK(lu.factor(a.view()).info == 0);
        CHECK(lu.determinant().log_magnitude == doctest::Approx(std::log(static_cast<double>(1e-40F))));
        a.values = {1, 1, 1, 1};
        CHECK(lu.factor(a.view()).info != 0);
        const std::vector<double> wide{1, 1, 0, 1, 1, 1e-60, 0, 1, 1};  // 1e-60 has no row or column that scales it
        CHECK(lu.factor(DoubleMatrixView{wide, 3, 3}).info != 0);
        for (const float x : lu.factors().lu) CHECK(std::isfinite(x));
    }
}

TEST_CASE("solves, inverts, and finds determinants") {
    for (const auto& [name, options] : ways()) {
        for (const std::size_t n : {1U, 2U, 3U, 31U, 32U, 33U, 100U}) {
            const auto shown = text_of(name, ", n = ", n);
            INFO(shown);
            auto a = random_matrix(n, n, 41);
            a = dominant(a);
            Lu lu(context(), options);
            lu.factor(a.view());
            const std::size_t sides = 3;
            const auto x = random_matrix(n, sides, 42);
            std::vector<float> b(n * sides);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t side = 0; side < sides; ++side) {
                    double sum = 0;
                    for (std::size_t j = 0; j < n; ++j) sum += static_cast<double>(a.at(i, j)) * x.at(j, side);
                    b[i * sides + side] = static_cast<float>(sum);
                }
            }
            const auto found = lu.solve(b, sides);
            for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - x.values[i]) < 1e-5);
            const auto inverse = lu.inverse();
            double worst = 0;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    double sum = 0;
                    for (std::size_t k = 0; k < n; ++k) sum += static_cast<double>(a.at(i, k)) * inverse[k * n + j];
                    worst = std::max(worst, std::abs(sum - (i == j ? 1.0 : 0.0)));
                }
            }
            CHECK(worst < 1e-5);
        }
        Matrix a{3, 3};
        a.values = {0, 2, 0, 3, 0, 0, 0, 0, 4};  // a permutation of odd sign
        Lu lu(context(), options);
        if (options.pivot == Pivot::Diagonal) continue;
        lu.factor(a.view());
        CHECK(lu.determinant().value() == doctest::Approx(-24));
        CHECK(lu.solve(std::vector<float>{2, 3, 4}) == std::vector<float>{1, 1, 1});
    }
}

TEST_CASE("refinement reaches double accuracy, or reports that it cannot") {
    for (const auto pivot : {Pivot::Partial, Pivot::Full}) {
        const std::size_t n = 100;
        const auto a = random_matrix(n, n, 51);
        std::vector<double> x(n), b(n), found(n);
        for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<double>(i)) * 1e-3;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) b[i] += static_cast<double>(a.at(i, j)) * x[j];
        }
        Lu lu(context(), {.pivot = pivot});
        lu.factor(a.view());
        const auto refinement = lu.solve(a.view(), b, found);
        CHECK(refinement.converged);
        CHECK(refinement.steps >= 2);
        CHECK(refinement.residual < 1e-14);
        for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(found[i] - x[i]) < 1e-14);
    }
    Matrix hilbert{12, 12};
    for (std::size_t i = 0; i < 12; ++i) {
        for (std::size_t j = 0; j < 12; ++j) hilbert.at(i, j) = 1.0F / static_cast<float>(i + j + 1);
    }
    Lu lu(context());
    if (lu.factor(hilbert.view()).info > 0) return;
    std::vector<double> b(12, 1.0), found(12);
    const auto refinement = lu.solve(hilbert.view(), b, found);
    for (const double value : found) CHECK(std::isfinite(value));
    CHECK(refinement.residual <= 1);
}

TEST_CASE("refinement ends where its corrections leave the range of floats") {
    const std::size_t n = 97;
    std::vector<double> moler(n * n), b(n, 1.0), found(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            moler[i * n + j] = i == j ? static_cast<double>(i + 1) : static_cast<double>(std::min(i, j)) - 1;
    }
    const DoubleMatrixView view{moler, n, n};
    Lu lu(context());
    lu.factor(view);
    CHECK(lu.solve(view, b, found).steps <= 106);  // 53 halvings of each
    for (const double value : found) CHECK(std::isfinite(value));
}

TEST_CASE("a refined solution may overwrite its right-hand side, or a part of it") {
    const std::size_t n = 20, sides = 2;
    const auto a = random_matrix(n, n, 52);
    Lu lu(context());
    lu.factor(a.view());
    std::vector<double> b(n * sides), wanted(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i));
    CHECK(lu.solve(a.view(), b, wanted, sides).converged);
    for (const std::size_t later : {std::size_t{0}, std::size_t{7}}) {
        auto memory = b;
        memory.resize(b.size() + later);
        const auto x = std::span(memory).subspan(later);
        const auto refinement = lu.solve(a.view(), std::span(memory).first(b.size()), x, sides);
        CHECK(refinement.converged);
        CHECK(refinement.steps >= 2);
        CHECK(std::ranges::equal(x, wanted));
    }
}

TEST_CASE("right-hand sides as long as a texture's side, in every form") {
    const auto max = static_cast<std::size_t>(context().info().max_texture_size);
    for (const auto layout : {Layout::Scalars, Layout::Tiles}) {
        for (const std::size_t block : {1U, 8U, 16U, 32U}) {
            Lu lu(context(), {.block = block, .layout = layout});
            for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
                     {8, max}, {8, max * 4 / 5 + 1}, {7, max - 1}, {40, max}, {max, 8}, {max - 1, 40}}) {
                const auto shown = text_of(rows, " x ", columns, ", block ", block, ", layout ", static_cast<int>(layout));
                INFO(shown);
                const auto a = random_matrix(rows, columns, 16);
                CHECK(lu.factor(a.view()).info == 0);
                const auto factors = lu.factors();
                CHECK(is_permutation_of_places(factors.rows, rows));
                CHECK(lu_ratio(a, factors) < 30);
                CHECK(max_lower(factors, columns) <= 1.0 + 1e-6);
            }
            const std::vector<float> ones(max + 1, 1.0F);
            CHECK_THROWS_AS(lu.factor({ones, 1, max + 1}), InvalidArgument);
            CHECK_THROWS_AS(lu.factor({ones, max + 1, 1}), InvalidArgument);
        }
    }
}

TEST_CASE("wrong calls are refused with advice") {
    Lu lu(context());
    const auto a = random_matrix(3, 2, 1);
    CHECK_THROWS_WITH_AS(static_cast<void>(lu.factors()), "Lu::factors: nothing was factorized; call factor() first",
                         InvalidArgument);
    CHECK_THROWS_WITH_AS(lu.factor({a.values, 3, 3}), "Lu::factor: 3 rows and 3 columns do not make 6 values",
                         InvalidArgument);
    auto bad = a;
    bad.at(2, 1) = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_WITH_AS(lu.factor(bad.view()), "Lu::factor: row 2, column 1 (from 0) is a NaN", InvalidArgument);
    lu.factor(a.view());
    CHECK_THROWS_WITH_AS(static_cast<void>(lu.determinant()),
                         "Lu::determinant: the matrix is not square, but has 3 rows and 2 columns", InvalidArgument);
    CHECK_THROWS_AS(Lu(context(), {.block = 7}), InvalidArgument);
    CHECK_THROWS_AS(Lu(context(), {.pivot = Pivot::Full, .block = 8}), InvalidArgument);
    Matrix zero{2, 2};
    CHECK(lu.factor(zero.view()).info == 1);
    CHECK_THROWS_WITH_AS(static_cast<void>(lu.solve(std::vector<float>{1, 1})),
                         "Lu::solve: the matrix is singular: pivot 1 is zero", Error);
    CHECK(lu.determinant().sign == 0);
    CHECK(lu.determinant().value() == 0);
}
