// Compares keys that ranks sort together with one sort of all: the same bits, in parts of the documented sizes.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

#include "cpu/keys.hpp"
#include "mpi/comm.hpp"
#include "mpi/ranks.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;

namespace {

std::mt19937_64 random_of(unsigned seed) {
    return std::mt19937_64(seed * 1000 + static_cast<unsigned>(rank()));
}

template <class T>
std::vector<T> random_bits(std::size_t n, unsigned seed) {
    auto random = random_of(seed);
    std::vector<T> keys(n);
    using Bits = detail::cpu::KeyBits<T>;
    for (auto& key : keys) key = Bits::value(static_cast<typename Bits::Bits>(random()));
    return keys;
}

template <class T>
void check_sort(const std::vector<T>& mine, Order order = Order::Ascending) {
    auto all = all_of(mine);
    sort_on_cpu(all, order);
    const auto part = mpi::sort<T>(MPI_COMM_WORLD, mine, {.order = order});
    const auto begin = [&](int r) {
        return all.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks());
    };
    REQUIRE(part.size() == begin(rank() + 1) - begin(rank()));
    // Compares bits: NaNs and both zeros are in the total order.
    CHECK((part.empty() || std::memcmp(part.data(), all.data() + begin(rank()), part.size() * sizeof(T)) == 0));
}

}  // namespace

TEST_CASE_TEMPLATE("random bits of every type", T, Half, float, double, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
    for (const auto order : {Order::Ascending, Order::Descending}) check_sort(random_bits<T>(3000, 1), order);
}

TEST_CASE("sizes: none, fewer than ranks, one more and one less, only one rank's") {
    check_sort<float>({});
    check_sort<std::uint32_t>(rank() == ranks() - 1 ? std::vector<std::uint32_t>{7} : std::vector<std::uint32_t>{});
    for (const std::size_t n : {1U, 2U, 3U, 255U, 256U, 257U}) check_sort(random_bits<std::uint32_t>(n, 2));
    check_sort(random_bits<float>(static_cast<std::size_t>(rank()) * 1000, 3));
    check_sort(random_bits<double>(rank() == 0 ? 5000 : 0, 4));
}

TEST_CASE("distributions: equal, sorted, reversed, two values, skewed") {
    const std::size_t n = 4001;
    check_sort(std::vector<std::uint32_t>(n, 42));
    check_sort(std::vector<std::uint64_t>(n, std::numeric_limits<std::uint64_t>::max()));
    check_sort(std::vector<std::int32_t>(n, std::numeric_limits<std::int32_t>::min()));
    std::vector<std::uint32_t> up(n);
    std::iota(up.begin(), up.end(), static_cast<std::uint32_t>(n) * static_cast<std::uint32_t>(rank()));
    check_sort(up);
    check_sort(up, Order::Descending);
    std::vector<float> two(n), skewed(n);
    auto random = random_of(5);
    for (auto& key : two) key = random() % 2 == 0 ? -0.0F : 0.0F;
    for (auto& key : skewed) key = std::ldexp(1.0F, -static_cast<int>(std::countr_zero(random() | 1ULL << 40U)));
    check_sort(two);
    check_sort(skewed);
}

TEST_CASE("messages of any length") {
    const detail::mpi::Comm comm("test", MPI_COMM_WORLD);
    for (const std::size_t message : {1U, 3U, 1000U}) {
        // Rank r sends r + to + 1 bytes, each of which is its number.
        std::vector<std::uint64_t> sent{0}, come{0};
        for (int r = 0; r < ranks(); ++r) {
            const auto bytes = static_cast<std::uint64_t>(rank() + r + 1);
            sent.push_back(sent.back() + bytes);
            come.push_back(come.back() + bytes);
        }
        const std::vector<std::byte> out(sent.back(), static_cast<std::byte>(rank()));
        std::vector<std::byte> in(come.back(), std::byte{255});
        detail::mpi::exchange(comm, out, sent, in, come, message);
        for (int r = 0; r < ranks(); ++r) {
            for (auto at = come[static_cast<std::size_t>(r)]; at < come[static_cast<std::size_t>(r) + 1]; ++at)
                CHECK(in[at] == static_cast<std::byte>(r));
        }
    }
}

TEST_CASE("part of a communicator of the application") {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, 0, &half);
    const auto part = mpi::sort<std::uint32_t>(half, random_bits<std::uint32_t>(100, 6));
    CHECK(std::ranges::is_sorted(part));
    std::uint64_t n = part.size(), all = 0;
    MPI_Allreduce(&n, &all, 1, MPI_UINT64_T, MPI_SUM, half);
    int size = 0;
    MPI_Comm_size(half, &size);
    CHECK(all == 100 * static_cast<std::uint64_t>(size));
    MPI_Comm_free(&half);
}

TEST_CASE("an exception on one rank is thrown on all, with the rank's number") {
    const detail::mpi::Comm comm("test", MPI_COMM_WORLD);
    const int bad = ranks() - 1;
    const auto fail = [&] {
        if (rank() == bad) throw InvalidArgument("no such thing");
    };
    CHECK_THROWS_WITH_AS(
        comm.together(fail),
        (rank() == bad ? std::string("no such thing") : "rank " + std::to_string(bad) + ": no such thing").c_str(),
        InvalidArgument);
    comm.together([] {});
    CHECK_THROWS_AS(static_cast<void>(mpi::sort<float>(MPI_COMM_NULL, std::vector<float>{})), InvalidArgument);
}

TEST_CASE("a rank's place on its machine") {
    const auto local = mpi::local_rank(MPI_COMM_WORLD);
    CHECK(local.rank == rank());
    CHECK(local.size == ranks());
}
