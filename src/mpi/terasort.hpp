// Sorts a file with many machines: GPUTeraSort on each, and exact splitters between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mpi/comm.hpp"
#include "quadmill/external.hpp"

namespace quadmill::detail::mpi {

// The files that the output consists of.
enum class Parts {
    Together,  // one file, which all ranks write together and must be able to open
    Apart      // one file per rank: OUT-00002-of-00004
};

// What a start does with complete runs of an earlier start of the same job with the same number of ranks.
enum class Earlier {
    Remove,
    Resume  // sorts only what is missing; keeps its own runs if it fails
};

struct TerasortOptions {
    ExternalSortOptions sort{};  // memory: per rank
    Parts parts = Parts::Together;
    Earlier earlier = Earlier::Remove;
};

// Totals of all ranks. Seconds are those of the slowest rank.
struct TerasortStats {
    std::uint64_t bytes = 0, records = 0, ranks = 0;
    std::uint64_t max_records = 0, min_records = 0;  // largest and smallest part
    std::uint64_t moved_bytes = 0;                   // from one rank to another
    std::uint64_t resumed = 0;                       // number of ranks that had their run already
    std::uint64_t peak_bytes = 0;                    // max over all ranks
    Engine engine = Engine::Cpu;                     // that of rank 0
    double seconds = 0, sort_seconds = 0, cut_seconds = 0, exchange_seconds = 0, merge_seconds = 0;
};

// All ranks call it; if one of them throws, all do. Guarantees are those of sort_file(). Rank r of P writes the records
// from floor(r N / P) to floor((r + 1) N / P). Disk: twice each rank's share, next to the output or in options.temp,
// and once more for some time if it does not fit into memory.
TerasortStats terasort(const Comm& comm, const std::string& input, const std::string& output,
                       const TerasortOptions& options, const std::optional<Context>& context);

}  // namespace quadmill::detail::mpi
