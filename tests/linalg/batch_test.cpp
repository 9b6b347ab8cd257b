// Many small matrices at once: against Eigen and LAPACK's residual, each by itself, with singular ones among them.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "linalg/batch_lu.hpp"
#include "linalg/matrices.hpp"
#include "linalg/poison.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

// The factors of one of many, as those of a single matrix.
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

TEST_CASE("many matrices are factorized as each one alone, whatever their size, and solved") {
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
            // The backward error, by each system's own sizes.
            for (std::size_t system = 0; system < systems; ++system) {
                double most_x = 0, left = 0;
                for (auto i = system * n * sides; i < (system + 1) * n * sides; ++i) {
                    most_x = std::max(most_x, static_cast<double>(std::abs(found[i])));
                    left = std::max(left, std::abs(static_cast<double>(back[i]) - b[i]));
                }
                CHECK(left <= 30 * 0x1p-24 * static_cast<double>(n * n) * (most_x + 1));
            }
        }
    }
}

TEST_CASE("pivots of many matrices are those of Eigen") {
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

TEST_CASE("singular matrices are reported each by itself, and their solutions are NaNs") {
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

TEST_CASE("more matrices than a texture has rows lie side by side") {
    const auto most = static_cast<std::size_t>(context().info().max_texture_size);
    for (const std::size_t systems : {most, most + 1, 2 * most + 3}) {
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
    // Three a row of texels: larger ones, where the last row has one.
    const std::size_t n = 5, systems = 2 * most + 1;
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

TEST_CASE("wrong calls for many matrices are refused with what to do") {
    LuBatch batch(context());
    CHECK_THROWS_WITH_AS(static_cast<void>(batch.factors()),
                         "LuBatch::factors: nothing was factorized; call factor() first", InvalidArgument);
    const std::vector<float> values(33 * 33, 1.0F);
    CHECK_THROWS_WITH_AS(batch.factor(values, 33),
                         "LuBatch::factor: n must be at most 32, not 33; Lu takes larger matrices", InvalidArgument);
    CHECK_THROWS_WITH_AS(batch.factor(values, 2), "LuBatch::factor: 1089 values make no 2 x 2 matrices",
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

TEST_CASE("a wrong call leaves what was factorized before") {
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
