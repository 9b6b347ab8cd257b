// The examples of mpi.hpp, unchanged, on each of 1 to 4 ranks.
#include <doctest/doctest.h>
#include <quadmill/mpi.hpp>
#include <quadmill/stream.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace quadmill;  // NOLINT(google-build-using-namespace)

TEST_CASE("sort") {
    const std::vector<float> keys{3, 1, 2};
    const auto part = mpi::sort<float>(MPI_COMM_WORLD, keys);
    CHECK(part.size() == 3);
    CHECK(std::ranges::is_sorted(part));
}

TEST_CASE("reduce") {
    Quantiles<float> summary({.eps = 0.001});
    summary.add(std::vector<float>{1, 2, 3});
    float printed = 2;
    const auto print = [&](float value) { printed = value; };
    const auto all = mpi::reduce(MPI_COMM_WORLD, std::move(summary));
    if (all) print(all->quantile(0.5).value);  // on rank 0
    CHECK(printed == 2);
}
