/// Many machines by MPI: keys that are spread over the ranks of a communicator are sorted together, and the ranks'
/// summaries become one.
///
/// Every call is collective: all ranks of the communicator make it, in the same order. It works on a duplicate of the
/// host's communicator, so its messages meet no other ones. Errors are collective, too: where one rank throws, all do,
/// and none is left waiting; the others' messages begin with its number. MPI is initialized by the host, with
/// MPI_THREAD_FUNNELED or more; the calls are made on the thread that may call MPI.
///
/// Link quadmill::mpi, of a build that has found an MPI.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::mpi {

/// A rank's place among those of its machine.
struct LocalRank {
    int rank = 0;  ///< from 0
    int size = 1;  ///< ranks on the machine
};
/// Which of its machine's ranks this one is: the device that it takes is that one, modulo the number of devices.
/// Throws: InvalidArgument where MPI is not initialized or `comm` is null.
[[nodiscard]] QUADMILL_API LocalRank local_rank(MPI_Comm comm);

/// How keys are sorted over ranks.
struct KeySortOptions {
    Order order = Order::Ascending;    ///< of the result; the same on all ranks
    std::optional<Context> context{};  ///< sorts this rank's keys; none takes the CPU
    unsigned threads = 0;              ///< on the CPU; 0 takes a rank's share of the machine's
};

/// Sorts the keys of all ranks together. T is a type that Sorter sorts, the same on all ranks.
///
/// Guarantee: the ranks' results, one after the other by rank, are all keys in the order of sort.hpp; of N keys, rank r
/// of P has those from floor(r N / P) to floor((r + 1) N / P), whatever the keys are, equal ones too.
/// Memory: that of the result and of what is sorted, twice.
/// Cost: one local sort; as many rounds of a sum over P numbers as a key has bits; each key is sent once, in messages
/// of at most 2^30 bytes; a merge of P runs.
/// Throws: as Sorter, and Error where MPI fails; on all ranks.
///
///     const auto part = mpi::sort<float>(MPI_COMM_WORLD, keys);
template <SortableKey T>
[[nodiscard]] std::vector<T> sort(MPI_Comm comm, std::span<const T> keys, const KeySortOptions& options = {});
/// The same of a vector.
template <SortableKey T>
[[nodiscard]] std::vector<T> sort(MPI_Comm comm, const std::vector<T>& keys, const KeySortOptions& options = {}) {
    return sort<T>(comm, std::span<const T>(keys), options);
}

}  // namespace quadmill::mpi

namespace quadmill::detail::mpi {

/// Calls `save` and `merge` so that rank 0 merges all. Throws on all ranks what one of them throws.
QUADMILL_API void merge_by_tree(MPI_Comm comm, const std::function<std::vector<std::byte>()>& save,
                                const std::function<void(std::span<const std::byte>)>& merge);
/// Whether this is rank 0.
[[nodiscard]] QUADMILL_API bool is_first(MPI_Comm comm);

}  // namespace quadmill::detail::mpi

namespace quadmill::mpi {

/// Merges the ranks' summaries of stream.hpp or sketch.hpp, which must fit together as their merge() says, by a tree:
/// in round k, half of the ranks that are left send theirs, saved, to the other half. `load` makes a summary of saved
/// bytes, as CorrelatedSums needs its g again.
///
/// Guarantee: rank 0 has what merging all summaries in the order of ranks, by pairs, makes; the others have nothing.
/// Cost: ceil(log2 P) rounds, each of one summary's bytes a rank.
/// Throws: as load() and merge(), and Error where MPI fails; on all ranks.
template <class Summary, class Load>
[[nodiscard]] std::optional<Summary> reduce(MPI_Comm comm, Summary summary, const Load& load) {
    quadmill::detail::mpi::merge_by_tree(
        comm, [&] { return summary.save(); },
        [&](std::span<const std::byte> bytes) { summary.merge(load(bytes)); });
    if (!quadmill::detail::mpi::is_first(comm)) return {};
    return std::optional<Summary>(std::move(summary));
}
/// The same by Summary::load().
///
///     const auto all = mpi::reduce(MPI_COMM_WORLD, std::move(summary));
///     if (all) print(all->quantile(0.5).value);  // on rank 0
template <class Summary>
[[nodiscard]] std::optional<Summary> reduce(MPI_Comm comm, Summary summary) {
    return reduce(comm, std::move(summary), [](std::span<const std::byte> bytes) { return Summary::load(bytes); });
}

}  // namespace quadmill::mpi
