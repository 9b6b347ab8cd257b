// The examples of linalg.hpp and of the matrices in docs/library.md, unchanged.
#include <doctest/doctest.h>

#include <cmath>
#include <quadmill/context.hpp>
#include <quadmill/linalg.hpp>
#include <vector>

using namespace quadmill;  // NOLINT(google-build-using-namespace)

TEST_CASE("reductions of a matrix") {
    Reducer reducer(Context::headless());
    const std::vector<float> values{3, 1, 2, 6, 5, 4};
    const MatrixView matrix{values, 2, 3};
    const auto sums = reducer.sums(matrix, Along::Rows);  // 6, 15
    CHECK(sums == std::vector<float>{6, 15});
    const auto min = reducer.minimum(matrix).front();  // 1, of row 0 and column 1
    CHECK(min == Extreme{1, 0, 1});
}

TEST_CASE("LU of a matrix") {
    Lu lu(Context::headless());
    const std::vector<float> a{2, 1, 4, 1};             // [2 1; 4 1]
    const LuStats stats = lu.factor({a, 2, 2});         // info is 0
    const auto x = lu.solve(std::vector<float>{3, 5});  // 1, 1
    const double d = lu.determinant().value();          // -2
    CHECK(stats.info == 0);
    CHECK(x == std::vector<float>{1, 1});
    CHECK(d == doctest::Approx(-2));
}

TEST_CASE("LU of many small matrices") {
    LuBatch batch(Context::headless());
    const std::vector<float> two{2, 1, 4, 1, 1, 2, 2, 4};        // [2 1; 4 1] and [1 2; 2 4]
    const BatchStats stats = batch.factor(two, 2);               // info is 0 and 2
    const auto x = batch.solve(std::vector<float>{3, 5, 1, 1});  // 1, 1, and NaNs
    CHECK(stats.info == std::vector<std::uint32_t>{0, 2});
    CHECK(x[0] == 1);
    CHECK(x[1] == 1);
    CHECK((std::isnan(x[2]) && std::isnan(x[3])));
}
