// A file sorted by many machines: GPUTeraSort on each, exact splitters between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mpi/comm.hpp"
#include "quadmill/external.hpp"

namespace quadmill::detail::mpi {

// The output of the sorted parts.
enum class Parts {
    Together,  // one file, which all ranks write at once and must be able to open
    Apart      // a file a rank: OUT-00002-of-00004
};

// What a start does with complete runs of an earlier start of the same job with as many ranks.
enum class Earlier {
    Remove,
    Resume  // sorts only what is not there; and leaves its own where it fails
};

struct TerasortOptions {
    ExternalSortOptions sort{};  // memory: of this rank
    Parts parts = Parts::Together;
    Earlier earlier = Earlier::Remove;
};

// Totals of all ranks; seconds are those of the slowest one.
struct TerasortStats {
    std::uint64_t bytes = 0, records = 0, ranks = 0;
    std::uint64_t most_records = 0, least_records = 0;  // of a part
    std::uint64_t moved_bytes = 0;                      // from one rank to another
    std::uint64_t resumed = 0;                          // ranks that had their run already
    std::uint64_t peak_bytes = 0;                       // of the rank that took most memory
    Engine engine = Engine::Cpu;                        // of rank 0
    double seconds = 0, sort_seconds = 0, cut_seconds = 0, exchange_seconds = 0, merge_seconds = 0;
};

// Collective: throws on all ranks what one of them throws. Guarantee: as sort_file(); rank r of P writes the records
// from floor(r N / P) to floor((r + 1) N / P). Disk: each rank's share twice, beside the output or in options.temp;
// once more in the meantime if it does not fit into memory.
TerasortStats terasort(const Comm& comm, const std::string& input, const std::string& output,
                       const TerasortOptions& options, const std::optional<Context>& context);

}  // namespace quadmill::detail::mpi
