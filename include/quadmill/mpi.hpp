/// Many machines with MPI: keys that are spread over the ranks of a communicator are sorted together, and the ranks'
/// summaries become one.
///
/// Every call is collective: all ranks of the communicator make it, in the same order. It works on a duplicate of the
/// application's communicator, so its messages do not mix with others. Errors are collective, too: if one rank throws,
/// all do, and none is left waiting; the others' messages begin with its number. The application initializes MPI with
/// MPI_THREAD_FUNNELED or more; the calls are made on the thread that may call MPI.
///
/// Link quadmill::mpi, which is available if CMake found an MPI.
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

/// A rank's number among the ranks of its machine.
struct LocalRank {
    int rank = 0;  ///< from 0
    int size = 1;  ///< ranks on the machine
};
/// This rank's number on its machine. It uses the device with that number, modulo the number of devices.
/// Throws: InvalidArgument if MPI is not initialized or `comm` is null.
[[nodiscard]] QUADMILL_API LocalRank local_rank(MPI_Comm comm);

/// Options of a sort over ranks.
struct KeySortOptions {
    Order order = Order::Ascending;    ///< of the result; the same on all ranks
    std::optional<Context> context{};  ///< sorts this rank's keys; unset: the CPU
    unsigned threads = 0;              ///< CPU threads; 0: a rank's share of the machine's
};

/// Sorts the keys of all ranks together. T is a type that Sorter sorts, the same on all ranks.
///
/// Guarantee: the ranks' results, one after the other by rank, are all keys in the order of sort.hpp; of N keys, rank r
/// of P has those from floor(r N / P) to floor((r + 1) N / P), for any keys, also equal ones.
/// Memory: twice that of the input and of the result.
/// Cost: one local sort; as many rounds of a sum over P numbers as a key has bits; each key is sent once, in messages
/// of at most 2^30 bytes; a merge of P runs.
/// Throws: as Sorter, and Error if MPI fails; on all ranks.
///
///     const auto part = mpi::sort<float>(MPI_COMM_WORLD, keys);
template <SortableKey T>
[[nodiscard]] std::vector<T> sort(MPI_Comm comm, std::span<const T> keys, const KeySortOptions& options = {});
/// sort() of a vector.
template <SortableKey T>
[[nodiscard]] std::vector<T> sort(MPI_Comm comm, const std::vector<T>& keys, const KeySortOptions& options = {}) {
    return sort<T>(comm, std::span<const T>(keys), options);
}

}  // namespace quadmill::mpi

namespace quadmill::detail::mpi {

/// Calls `save` and `merge` so that rank 0 merges all. An exception on one rank is thrown on all.
QUADMILL_API void merge_by_tree(MPI_Comm comm, const std::function<std::vector<std::byte>()>& save,
                                const std::function<void(std::span<const std::byte>)>& merge);
/// Whether this is rank 0.
[[nodiscard]] QUADMILL_API bool is_first(MPI_Comm comm);

}  // namespace quadmill::detail::mpi

namespace quadmill::mpi {

/// Merges the ranks' summaries of stream.hpp or sketch.hpp, which must satisfy the rules of their merge(), as a tree:
/// in round k, half of the remaining ranks send their saved summaries to the other half. `load` makes a summary of
/// saved bytes; CorrelatedSums needs its g again.
///
/// Guarantee: rank 0 gets the summary that merging all of them makes, by pairs, in the order of ranks; the others get
/// nothing.
/// Cost: ceil(log2 P) rounds; in each, a rank sends or receives the bytes of one summary.
/// Throws: as load() and merge(), and Error if MPI fails; on all ranks.
template <class Summary, class Load>
[[nodiscard]] std::optional<Summary> reduce(MPI_Comm comm, Summary summary, const Load& load) {
    quadmill::detail::mpi::merge_by_tree(
        comm, [&] { return summary.save(); }, [&](std::span<const std::byte> bytes) { summary.merge(load(bytes)); });
    if (!quadmill::detail::mpi::is_first(comm)) return {};
    return std::optional<Summary>(std::move(summary));
}
/// reduce() with Summary::load().
///
///     const auto all = mpi::reduce(MPI_COMM_WORLD, std::move(summary));
///     if (all) print(all->quantile(0.5).value);  // on rank 0
template <class Summary>
[[nodiscard]] std::optional<Summary> reduce(MPI_Comm comm, Summary summary) {
    return reduce(comm, std::move(summary), [](std::span<const std::byte> bytes) { return Summary::load(bytes); });
}

}  // namespace quadmill::mpi
