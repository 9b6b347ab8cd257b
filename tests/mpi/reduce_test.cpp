// Compares the merged summaries of all ranks with exact counts of all values.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

#include "mpi/ranks.hpp"
#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"

using namespace quadmill;

namespace {

std::vector<float> values_of(int rank, std::size_t n) {
    std::mt19937 random(static_cast<unsigned>(rank) + 1);
    std::vector<float> values(n);
    for (auto& value : values) value = static_cast<float>(random() % 10000 + static_cast<unsigned>(rank) * 3000);
    return values;
}

}  // namespace

TEST_CASE("quantiles: ranks of answers are within eps of all values") {
    constexpr double eps = 0.005;
    const auto mine = values_of(rank(), static_cast<std::size_t>(rank()) * 20000);  // rank 0 has none
    Quantiles<float> summary({.eps = eps});
    summary.add(mine);
    auto exact = all_of(mine);
    std::ranges::sort(exact);
    const auto all = mpi::reduce(MPI_COMM_WORLD, std::move(summary));
    CHECK(all.has_value() == (rank() == 0));
    if (!all) return;
    CHECK(all->n() == exact.size());
    if (exact.empty()) return;
    for (const double phi : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        const auto value = all->quantile(phi).value;
        const auto low = std::ranges::lower_bound(exact, value) - exact.begin();
        const auto high = std::ranges::upper_bound(exact, value) - exact.begin();
        const auto n = static_cast<double>(exact.size()), wanted = phi * n;
        CHECK(static_cast<double>(low) <= wanted + eps * n + 1);
        CHECK(static_cast<double>(high) >= wanted - eps * n - 1);
    }
}

TEST_CASE("frequencies and prefixes count the values of all ranks") {
    Frequencies<std::uint32_t> counts({.eps = 0.01});
    HeavyPrefixes<std::uint32_t> prefixes({.eps = 0.01, .support = 0.1, .lengths = {0, 8, 32}});
    const std::vector<std::uint32_t> values(1000, 7);
    counts.add(values);
    prefixes.add(values);
    const auto all = mpi::reduce(MPI_COMM_WORLD, std::move(counts));
    const auto heavy = mpi::reduce(MPI_COMM_WORLD, std::move(prefixes));
    if (!all) return;
    const auto frequent = all->frequent(0.5);
    REQUIRE(frequent.size() == 1);
    CHECK(frequent[0].value == 7);
    CHECK(all->n() == 1000 * static_cast<std::uint64_t>(ranks()));
    CHECK(heavy->n() == all->n());
    CHECK(heavy->heavy(0.5).size() == 1);
}

TEST_CASE("correlated sums, whose f is given again") {
    const auto square = [](double y) { return y * y; };
    CorrelatedSums<float> sums({.eps = 0.01, .g = square});
    sums.add(std::vector<float>(10, static_cast<float>(rank())), std::vector<double>(10, 2.0));
    const auto all = mpi::reduce(MPI_COMM_WORLD, std::move(sums), [&](std::span<const std::byte> bytes) {
        return CorrelatedSums<float>::load(bytes, square);
    });
    if (all) CHECK(all->sum({.kind = Aggregate::Kind::Max}).sum == doctest::Approx(40.0 * ranks()));
}

TEST_CASE("mismatched summaries are an error on all ranks, and the next call works") {
    // The last rank has prefixes of other lengths.
    const std::vector<int> lengths = rank() > 0 && rank() == ranks() - 1 ? std::vector{0, 16} : std::vector{0, 8};
    HeavyPrefixes<std::uint32_t> prefixes({.eps = 0.01, .support = 0.1, .lengths = lengths});
    if (ranks() > 1) {
        CHECK_THROWS_AS(static_cast<void>(mpi::reduce(MPI_COMM_WORLD, std::move(prefixes))), InvalidArgument);
    }
    struct Failing {
        [[nodiscard]] std::vector<std::byte> save() const {
            if (rank() == ranks() - 1) throw std::runtime_error("cannot be saved");
            return std::vector<std::byte>(5);
        }
        void merge(const Failing& /*other*/) {}
        static Failing load(std::span<const std::byte> /*bytes*/) { return {}; }
    };
    if (ranks() > 1) CHECK_THROWS(static_cast<void>(mpi::reduce(MPI_COMM_WORLD, Failing{})));
    Quantiles<float> summary({.eps = 0.001});
    summary.add(1.0F);
    const auto all = mpi::reduce(MPI_COMM_WORLD, std::move(summary));
    if (all) CHECK(all->n() == static_cast<std::uint64_t>(ranks()));
}
