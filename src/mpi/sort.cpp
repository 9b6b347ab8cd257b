// Sorts the keys of all ranks: a local sort, exact splitters, one exchange, one merge.
#include <algorithm>
#include <limits>
#include <numeric>

#include "cpu/keys.hpp"
#include "cpu/merge.hpp"
#include "cpu/workers.hpp"
#include "mpi/comm.hpp"

namespace quadmill::detail::mpi {

namespace {

template <class T>
using BitsOf = typename cpu::KeyBits<T>::Bits;

// A rank's sorted keys, and where to cut them.
template <class T>
class Cuts {
  public:
    Cuts(const Comm& comm, std::span<const T> sorted, Order order) : comm_(comm), sorted_(sorted), rule_(order) {}

    // Cuts this rank's keys so that the first places[i] keys of all ranks are before the cuts. Equal keys are ordered
    // by rank, so the parts have exactly these sizes, however many keys are equal.
    [[nodiscard]] std::vector<std::uint64_t> at(std::span<const std::uint64_t> positions) const {
        const auto keys = keys_at(positions);
        std::vector<std::uint64_t> below(keys.size()), equal(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            below[i] = count(keys[i], Bound::Below);
            equal[i] = count(keys[i], Bound::UpTo) - below[i];
        }
        auto all_below = below, equal_before = equal;
        comm_.sum(all_below);
        comm_.sum_before(equal_before);
        auto cuts = below;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto taken = all_below[i] + equal_before[i];
            cuts[i] += std::min(equal[i], positions[i] > taken ? positions[i] - taken : 0);
        }
        return cuts;
    }

  private:
    enum class Bound { Below, UpTo };
    using Bits = BitsOf<T>;

    [[nodiscard]] std::uint64_t count(Bits key, Bound bound) const {
        const auto number = [this](const T& value) { return rule_.encode(cpu::KeyBits<T>::of(value)); };
        const auto end = bound == Bound::Below ? std::ranges::lower_bound(sorted_, key, {}, number)
                                               : std::ranges::upper_bound(sorted_, key, {}, number);
        return static_cast<std::uint64_t>(end - sorted_.begin());
    }

    // The keys at these positions among all ranks' keys, found by bisection of the values of keys, for all positions
    // together.
    [[nodiscard]] std::vector<Bits> keys_at(std::span<const std::uint64_t> positions) const {
        constexpr auto max = std::numeric_limits<Bits>::max();
        std::vector<Bits> low(positions.size(), 0), high(positions.size(), max);
        std::vector<std::uint64_t> counts(positions.size());
        const auto middle = [&](std::size_t i) { return static_cast<Bits>(low[i] + (high[i] - low[i]) / 2); };
        for (int bit = 0; bit < std::numeric_limits<Bits>::digits; ++bit) {
            for (std::size_t i = 0; i < positions.size(); ++i) counts[i] = count(middle(i), Bound::UpTo);
            comm_.sum(counts);
            for (std::size_t i = 0; i < positions.size(); ++i) {
                if (low[i] == high[i]) continue;
                if (counts[i] > positions[i]) {
                    high[i] = middle(i);
                } else {
                    low[i] = static_cast<Bits>(middle(i) + 1);
                }
            }
        }
        return low;
    }

    const Comm& comm_;
    std::span<const T> sorted_;
    cpu::TotalOrder<T> rule_;
};

// Converts the numbers of keys per rank to the positions where each rank's keys begin.
std::vector<std::uint64_t> begins_of(std::span<const std::uint64_t> counts) {
    std::vector<std::uint64_t> begins(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
    return begins;
}

std::vector<std::uint64_t> in_bytes(std::vector<std::uint64_t> keys, std::size_t bytes) {
    for (auto& n : keys) n *= bytes;
    return keys;
}

template <class T>
std::vector<T> sort_over(const Comm& comm, std::span<const T> keys, const quadmill::mpi::KeySortOptions& options,
                         unsigned threads) {
    std::vector<T> mine;
    comm.together([&] {
        mine.assign(keys.begin(), keys.end());
        if (options.context) {
            quadmill::sort(*options.context, mine, {.order = options.order, .threads = threads});
        } else {
            sort_on_cpu(mine, options.order, threads);
        }
    });
    if (comm.size() == 1) return mine;

    const auto all = comm.sum(mine.size());
    std::vector<std::uint64_t> positions;
    for (std::size_t r = 1; r < comm.ranks(); ++r) positions.push_back(part_begin(all, r, comm.ranks()));
    auto sent = Cuts<T>(comm, mine, options.order).at(positions);
    sent.insert(sent.begin(), 0);
    sent.push_back(mine.size());
    std::vector<std::uint64_t> counts(comm.ranks());
    for (std::size_t r = 0; r < counts.size(); ++r) counts[r] = sent[r + 1] - sent[r];
    const auto come = begins_of(comm.transposed(counts));

    std::vector<T> got;
    comm.together([&] { got.resize(come.back()); });
    exchange(comm, std::as_bytes(std::span(mine)), in_bytes(sent, sizeof(T)), std::as_writable_bytes(std::span(got)),
             in_bytes(come, sizeof(T)));
    comm.together([&] {
        mine.resize(got.size());
        std::vector<cpu::Run<T>> runs;
        for (std::size_t r = 0; r < counts.size(); ++r) runs.push_back({got.data() + come[r], come[r + 1] - come[r]});
        cpu::merge_in_place<T>(runs, got, mine, cpu::Workers(threads),
                               cpu::KeyLess<T>{cpu::TotalOrder<T>(options.order)}, cpu::Ways::Four);
    });
    return got;
}

}  // namespace
}  // namespace quadmill::detail::mpi

namespace quadmill::mpi {

template <SortableKey T>
std::vector<T> sort(MPI_Comm comm, std::span<const T> keys, const KeySortOptions& options) {
    const quadmill::detail::mpi::Comm ranks("mpi::sort", comm);
    const auto threads = quadmill::detail::mpi::threads_of(local_rank(comm), options.threads);
    return quadmill::detail::mpi::sort_over(ranks, keys, options, threads);
}

template QUADMILL_API std::vector<Half> sort(MPI_Comm, std::span<const Half>, const KeySortOptions&);
template QUADMILL_API std::vector<float> sort(MPI_Comm, std::span<const float>, const KeySortOptions&);
template QUADMILL_API std::vector<double> sort(MPI_Comm, std::span<const double>, const KeySortOptions&);
template QUADMILL_API std::vector<std::int32_t> sort(MPI_Comm, std::span<const std::int32_t>, const KeySortOptions&);
template QUADMILL_API std::vector<std::uint32_t> sort(MPI_Comm, std::span<const std::uint32_t>, const KeySortOptions&);
template QUADMILL_API std::vector<std::int64_t> sort(MPI_Comm, std::span<const std::int64_t>, const KeySortOptions&);
template QUADMILL_API std::vector<std::uint64_t> sort(MPI_Comm, std::span<const std::uint64_t>, const KeySortOptions&);

}  // namespace quadmill::mpi
