// Division of memory: GPUTeraSort's formulas (SIGMOD'06, section 2), with all parts counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "external/slot.hpp"

namespace quadmill::detail::external {

// Phase 1. In the paper R = M / 3 to M / 5. Here there are three slots of R bytes: one is read, one is sorted, one is
// written. There are more if several are sorted in parallel. Keys, order and blocks in flight are small if records are
// long. There is one slot if everything fits.
struct RunPlan {
    std::size_t slots = 0;
    SlotSize size;
    std::size_t block = 0;                         // bytes per transfer
    std::size_t interval = std::size_t{4} << 10U;  // min bytes from a sample of a run to the next one
};

struct RunNeeds {
    std::optional<std::uint64_t> input_bytes{};
    std::size_t mean_line = 0;     // estimated bytes; for lines
    std::size_t engine_bytes = 0;  // of the engine per key, in addition to WideSorter::memory
    std::size_t sorters = 1;       // runs that are sorted at the same time
    std::size_t run_bytes = 0;     // max bytes of a run; 0: limited by memory only
};

// Nothing if `memory` is too small.
[[nodiscard]] std::optional<RunPlan> plan_runs(const Format& format, std::size_t memory, const RunNeeds& needs);

// Phase 2. The paper's M = T * runs, twice because of the prefetch: blocks of T bytes, two per run, and those in flight
// to the disk. So a merge takes at most `fan_in` runs.
struct MergePlan {
    std::size_t fan_in = 0;
    std::size_t margin = 0;  // before each block, for the begin of the record that it ends
    std::size_t block = 0, write_block = 0;
};

// For as many of `runs` as possible. Nothing if that is less than two.
[[nodiscard]] std::optional<MergePlan> plan_merge(std::size_t memory, std::size_t runs, std::size_t longest_record);

// Phase 2 on several threads. Each reads its part of the runs and merges it.
struct RangePlan {
    std::size_t threads = 0, margin = 0;
    std::size_t range = 0;   // bytes of a part, and of the memory for it when it is merged
    std::size_t reader = 0;  // bytes of a thread's memory for the parts of the runs
};
struct RangeNeeds {
    std::size_t runs = 0, longest_record = 0;
    std::uint64_t bytes = 0;        // of all runs
    std::uint64_t longest_gap = 0;  // between samples of a run
    std::size_t threads = 0;
};
// Nothing if there is not enough memory for two threads, or not enough to merge.
[[nodiscard]] std::optional<RangePlan> plan_ranges(std::size_t memory, const RangeNeeds& needs);
// Memory for the indexes of the runs.
[[nodiscard]] std::size_t index_memory(std::size_t memory);

// Memory for the threads of the pipeline and small objects.
inline constexpr std::size_t reserve = std::size_t{4} << 20;
[[nodiscard]] std::size_t min_memory(const Format& format);
// The longest line that phase 2 can always merge.
[[nodiscard]] std::size_t longest_line(std::size_t memory);

// Current and peak CPU memory of the program in bytes; 0 if unknown.
[[nodiscard]] std::size_t resident_bytes();
[[nodiscard]] std::size_t peak_resident_bytes();

}  // namespace quadmill::detail::external
