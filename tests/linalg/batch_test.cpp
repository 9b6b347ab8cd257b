// Many small matrices together, some of them singular: compares each with Eigen and with LAPACK's residual.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>

#include "linalg/batch_lu.hpp"
#include "linalg/matrices.hpp"
#include "linalg/measures.hpp"
#include "linalg/poison.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

// The factors of one matrix of the batch, in the form for a single matrix.
Factors factors_of(const BatchFactors& all, std::size_t system, std::size_t n) {
    const auto part = [&](const auto& values, std::size_t size) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(system * size);
        return std::vector(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    Factors one{part(all.lu, n * n), part(all.rows, n), {}};
    for (std::uint32_t j = 0; j < n; ++j) one.columns.push_back(j);
    return one;
}

Matrix matrix_of(const std::vector<float>& all, std::size_t system, std::size_t n) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(system * n * n);
    return {n, n, std::vector(begin, begin + static_cast<std::ptrdiff_t>(n * n))};
}

std::vector<float> product(const std::vector<float>& all, const std::vector<float>& x, std::size_t n,
                           std::size_t sides) {
    std::vector<float> b(x.size());
    for (std::size_t row = 0; row < x.size() / sides; ++row) {
        const auto system = row / n;
        for (std::size_t side = 0; side < sides; ++side) {
            double sum = 0;
            for (std::size_t j = 0; j < n; ++j)
                sum += static_cast<double>(all[row * n + j]) * x[(system * n + j) * sides + side];
            b[row * sides + side] = static_cast<float>(sum);
        }
    }
    return b;
}

}  // namespace

TEST_CASE("many matrices of any size are factorized and solved like each one alone") {
    auto opened = context();
    LuBatch batch(opened);
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 32U}) {
        for (const std::size_t systems : {1U, 2U, 65U}) {
            INFO(n, " x ", n, ", ", systems);
            const auto all = random_matrix(systems * n, n, static_cast<unsigned>(100 * n + systems)).values;
            const Poison poison(opened);
            const auto stats = batch.factor(all, n);
            CHECK(stats.info == std::vector<std::uint32_t>(systems, 0));
            CHECK(stats.passes == 2 * ((n + 3) / 4) + 2);
            const auto factors = batch.factors();
            REQUIRE(factors.lu.size() == systems * n * n);
            for (std::size_t system = 0; system < systems; ++system) {
                const auto one = factors_of(factors, system, n);
                CHECK(lu_ratio(matrix_of(all, system, n), one) < 30);
                for (std::size_t i = 0; i < n * n; ++i) {
                    if (i % n < i / n) CHECK(std::abs(one.lu[i]) <= 1.0 + 1e-6);
                }
            }
            const std::size_t sides = systems == 2 ? 3 : 1;
            const auto x = random_matrix(systems * n, sides, 7).values;
            const auto b = product(all, x, n, sides);
            const auto found = batch.solve(b, sides);
            REQUIRE(found.size() == b.size());
            const auto back = product(all, found, n, sides);
            // The backward error, relative to the sizes of each system.
            for (std::size_t system = 0; system < systems; ++system) {
                double max_x = 0, left = 0;
                for (auto i = system * n * sides; i < (system + 1) * n * sides; ++i) {
                    max_x = std::max(max_x, static_cast<double>(std::abs(found[i])));
                    left = std::max(left, std::abs(static_cast<double>(back[i]) - b[i]));
                }
                CHECK(left <= 30 * 0x1p-24 * static_cast<double>(n * n) * (max_x + 1));
            }
        }
    }
}

TEST_CASE("pivots of many matrices equal Eigen's") {
    const std::size_t n = 30, systems = 20;
    const auto all = random_matrix(systems * n, n, 5).values;
    LuBatch batch(context());
    batch.factor(all, n);
    const auto factors = batch.factors();
    for (std::size_t system = 0; system < systems; ++system) {
        using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        const Eigen::MatrixXd matrix = Eigen::Map<const RowMajor>(all.data() + system * n * n, n, n).cast<double>();
        const Eigen::PartialPivLU<Eigen::MatrixXd> oracle(matrix);
        for (std::size_t i = 0; i < n; ++i)
            CHECK(oracle.permutationP().indices()(static_cast<Eigen::Index>(factors.rows[system * n + i])) ==
                  static_cast<int>(i));
    }
}

TEST_CASE("singular matrices are reported separately, and their solutions are NaNs") {
    for (const std::size_t n : {3U, 6U, 32U}) {
        const std::size_t systems = 9;
        auto all = random_matrix(systems * n, n, 9).values;
        std::vector<std::uint32_t> wanted(systems, 0);
        for (std::size_t i = 0; i < n; ++i) all[(2 * n + i) * n] = 0;          // the first column of matrix 2
        for (std::size_t i = 0; i < n; ++i) all[(5 * n + i) * n + n - 1] = 0;  // the last one of matrix 5
        std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(7 * n * n), n * n, 0.0F);
        wanted[2] = wanted[7] = 1;
        wanted[5] = static_cast<std::uint32_t>(n);
        LuBatch batch(context());
        CHECK(batch.factor(all, n).info == wanted);
        const auto factors = batch.factors();
        const auto x = batch.solve(std::vector<float>(systems * n, 1.0F));
        for (std::size_t system = 0; system < systems; ++system) {
            CHECK(lu_ratio(matrix_of(all, system, n), factors_of(factors, system, n)) < 30);
            for (std::size_t i = 0; i < n; ++i) CHECK(std::isnan(x[system * n + i]) == (wanted[system] > 0));
        }
    }
}

// The same random matrices unchanged and multiplied by powers of two: one for the whole matrix, and one for each row
// and column.
TEST_CASE("matrices of any range are scaled separately, by powers of two that change no digit") {
    for (const std::size_t n : {1U, 3U, 8U, 32U}) {
        CAPTURE(n);
        const std::size_t systems = 300;
        const auto plain = random_matrix(systems * n, n, 21).values;
        const auto b = random_matrix(systems * n, 2, 22).values;
        auto all = plain, sides = b;
        std::mt19937 random(23);
        std::vector<int> of_rows(systems * n), of_columns(systems * n);
        for (std::size_t i = 0; i < systems; ++i) {
            const int one = static_cast<int>(random() % 230) - 110;
            for (std::size_t j = i * n; j < (i + 1) * n; ++j) {
                if (i % 3 == 1) of_rows[j] = one;
                if (i % 3 == 2) of_rows[j] = (j % 2 == 0 ? 1 : -1) * static_cast<int>(40 + random() % 10);
                if (i % 3 == 2) of_columns[j] = (j % 3 == 0 ? 1 : -1) * static_cast<int>(25 + random() % 10);
            }
        }
        for (std::size_t row = 0; row < systems * n; ++row) {
            const auto first = row / n * n;
            for (std::size_t j = 0; j < n; ++j)
                all[row * n + j] = std::ldexp(all[row * n + j], of_rows[row] + of_columns[first + j]);
            for (std::size_t side = 0; side < 2; ++side)
                sides[row * 2 + side] = std::ldexp(sides[row * 2 + side], of_rows[row]);
        }
        LuBatch batch(context()), of_plain(context());
        of_plain.factor(plain, n);
        const auto stats = batch.factor(all, n);
        CHECK(stats.info == std::vector<std::uint32_t>(systems, 0));
        const auto factors = batch.factors();
        CHECK(detail::linalg::residual_ratio(all, factors, n) < 30);
        const auto unscaled = factors.unscaled();
        REQUIRE(unscaled.size() == all.size());
        const auto x = batch.solve(sides, 2), wanted = of_plain.solve(b, 2);
        const auto conditions = batch.conditions(all), of_plain_conditions = of_plain.conditions(plain);
        for (std::size_t i = 0; i < systems; ++i) {
            CAPTURE(i);
            if (i % 3 == 1) CHECK(conditions[i] == doctest::Approx(of_plain_conditions[i]).epsilon(1e-3));
            for (auto row = i * n; row < (i + 1) * n; ++row) {
                for (std::size_t side = 0; side < 2; ++side) {
                    const auto found = std::ldexp(static_cast<double>(x[row * 2 + side]), of_columns[row]);
                    const double max = (conditions[i] + of_plain_conditions[i]) * 0x1p-24 * 8 * static_cast<double>(n);
                    double size = 0;
                    for (auto k = i * n * 2; k < (i + 1) * n * 2; ++k)
                        size = std::max(size, static_cast<double>(std::abs(wanted[k])));
                    CHECK(std::abs(found - wanted[row * 2 + side]) <= max * size);
                }
            }
        }
    }
}

TEST_CASE("extreme matrices of a batch, and their conditions") {
    LuBatch batch(context());
    // Condition 2 near the end of floats' range; subnormal; singular; with a condition beyond floats.
    const std::vector<float> all{3e38F, 3e38F, -3e38F, 3e38F, 1e-40F, 0, 0, 1e-40F, 1, 2, 2, 4, 1, 1, 1, 1 + 0x1p-22F};
    const auto stats = batch.factor(all, 2);
    CHECK(stats.info == std::vector<std::uint32_t>{0, 0, 2, 0});
    const auto x = batch.solve(std::vector<float>{3e38F, 3e38F, 1e-40F, 2e-40F, 1, 1, 1, 1});
    CHECK(x[0] == doctest::Approx(0).epsilon(1e-6));
    CHECK(x[1] == doctest::Approx(1));
    CHECK(x[2] == doctest::Approx(1));
    CHECK(x[3] == doctest::Approx(2).epsilon(1e-4));  // subnormals have few digits
    CHECK(std::isnan(x[4]));
    const auto conditions = batch.conditions(all);
    CHECK(conditions[0] == doctest::Approx(2));
    CHECK(conditions[1] == doctest::Approx(1));
    CHECK(std::isinf(conditions[2]));
    CHECK(conditions[3] > 1e7);
    CHECK_THROWS_WITH_AS(static_cast<void>(batch.conditions(std::vector<float>(4))),
                         "LuBatch::conditions: 4 matrices of 2 x 2 were factorized, which are not 4 values",
                         InvalidArgument);
    // A solution beyond floats becomes infinite, only in its own system.
    batch.factor(std::vector<float>{1e-30F, 1}, 1);
    const auto beyond = batch.solve(std::vector<float>{1e30F, 2});
    CHECK(std::isinf(beyond[0]));
    CHECK(beyond[1] == 2);
}

TEST_CASE("condition numbers of a batch equal those of Lu") {
    const std::size_t n = 12, systems = 40;
    const auto all = random_matrix(systems * n, n, 31).values;
    LuBatch batch(context());
    batch.factor(all, n);
    const auto conditions = batch.conditions(all);
    Lu lu(context());
    for (std::size_t i = 0; i < systems; ++i) {
        const auto one = matrix_of(all, i, n);
        lu.factor(one.view());
        CHECK(conditions[i] == doctest::Approx(lu.condition(one.view())).epsilon(0.01));
    }
}

TEST_CASE("more matrices than a texture has rows are placed next to each other") {
    const auto max = static_cast<std::size_t>(context().info().max_texture_size);
    for (const std::size_t systems : {max, max + 1, 2 * max + 3}) {
        std::vector<float> all(systems), b(systems), wanted(systems);
        for (std::size_t i = 0; i < systems; ++i) {
            all[i] = i % 3 == 0 ? 2.0F : -4.0F;
            wanted[i] = static_cast<float>(i);
            b[i] = all[i] * wanted[i];
        }
        LuBatch batch(context());
        CHECK(batch.factor(all, 1).info == std::vector<std::uint32_t>(systems, 0));
        CHECK(batch.solve(b) == wanted);
        CHECK(batch.factors().lu == all);
    }
    // Three per row of texels. For larger ones the last row has one.
    const std::size_t n = 5, systems = 2 * max + 1;
    const auto few = random_matrix(64 * n, n, 3).values;
    std::vector<float> all;
    for (std::size_t i = 0; i < systems; ++i) {
        const auto begin = few.begin() + static_cast<std::ptrdiff_t>(i % 64 * n * n);
        all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(n * n));
    }
    LuBatch batch(context()), single(context());
    batch.factor(all, n);
    single.factor(few, n);
    const auto many = batch.factors().lu, one = single.factors().lu;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < many.size(); ++i) wrong += many[i] == one[i % one.size()] ? 0U : 1U;
    CHECK(wrong == 0);
}

TEST_CASE("wrong calls for many matrices are refused with advice") {
    LuBatch batch(context());
    CHECK_THROWS_WITH_AS(static_cast<void>(batch.factors()),
                         "LuBatch::factors: nothing was factorized; call factor() first", InvalidArgument);
    const std::vector<float> values(33 * 33, 1.0F);
    CHECK_THROWS_WITH_AS(batch.factor(values, 33),
                         "LuBatch::factor: n must be at most 32, not 33; Lu takes larger matrices", InvalidArgument);
    CHECK_THROWS_WITH_AS(batch.factor(values, 2), "LuBatch::factor: 1089 values do not make 2 x 2 matrices",
                         InvalidArgument);
    CHECK_THROWS_AS(batch.factor(values, 0), InvalidArgument);
    const std::vector<float> infinite{1, 2, 3, std::numeric_limits<float>::infinity()};
    CHECK_THROWS_WITH_AS(batch.factor(infinite, 2), "LuBatch::factor: matrix 0, row 1, column 1 (from 0) is infinite",
                         InvalidArgument);
    std::vector<float> three(3 * 4, 1.0F);
    three[2 * 4 + 2] = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_WITH_AS(batch.factor(three, 2), "LuBatch::factor: matrix 2, row 1, column 0 (from 0) is a NaN",
                         InvalidArgument);
    CHECK(batch.factor({}, 5).systems == 0);
    CHECK(batch.factors().lu.empty());
    CHECK(batch.solve({}).empty());
    const std::vector<float> small(8, 1.0F);
    batch.factor(small, 2);
    CHECK_THROWS_WITH_AS(static_cast<void>(batch.solve(small, 3)),
                         "LuBatch::solve: 2 systems of 2 rows and 3 right-hand sides do not make 8 values",
                         InvalidArgument);
    std::vector<float> b(2 * 2 * 3, 1.0F);
    b[2 * 3 + 1] = std::numeric_limits<float>::infinity();
    CHECK_THROWS_WITH_AS(static_cast<void>(batch.solve(b, 3)),
                         "LuBatch::solve: matrix 1, row 0, column 1 (from 0) is infinite", InvalidArgument);
    using detail::linalg::BatchLu;
    CHECK(BatchLu::grid_of(1000, 32, 16384)->across == 1);
    CHECK(BatchLu::grid_of(16384 * 14, 32, 16384)->across == 14);
    CHECK(!BatchLu::grid_of(16384 * 17, 32, 16384));
}

TEST_CASE("a wrong call keeps the previous factorization") {
    LuBatch batch(context());
    batch.factor(std::vector<float>{2, 1, 4, 1}, 2);
    {
        const SmallTextures textures(8);
        CHECK_THROWS_WITH_AS(batch.factor(std::vector<float>(4 * 17, 1.0F), 2),
                             "LuBatch::factor: 17 matrices of 2 x 2 do not fit into textures here, which take 8 texels "
                             "on a side; factorize parts of them",
                             InvalidArgument);
    }
    CHECK_THROWS_AS(batch.factor(std::vector<float>(7), 2), InvalidArgument);
    CHECK(batch.factors().rows == std::vector<std::uint32_t>{1, 0});
    CHECK(batch.solve(std::vector<float>{3, 5}) == std::vector<float>{1, 1});
}
