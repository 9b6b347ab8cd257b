// How much memory goes where: GPUTeraSort's formulas (SIGMOD'06, section 2), with what each part takes counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "external/slot.hpp"

namespace quadmill::detail::external {

// Phase 1. The paper's R = M / 3 to M / 5: three slots of R bytes (one is read, one is sorted, one is written; more
// where several are sorted at once), beside which keys, order and blocks on their way to the disk are small for long
// records. One slot where all fits.
struct RunPlan {
    std::size_t slots = 0;
    SlotSize size;
    std::size_t block = 0;  // bytes of a transfer
};

struct RunNeeds {
    std::optional<std::uint64_t> input_bytes{};
    std::size_t mean_line = 0;     // an estimate, for lines
    std::size_t engine_bytes = 0;  // that the engine takes a key next to those of WideSorter::memory
    std::size_t sorters = 1;       // that have a run each at the same time
};

// Nothing when `memory` bytes are too few.
[[nodiscard]] std::optional<RunPlan> plan_runs(const Format& format, std::size_t memory, const RunNeeds& needs);

// Phase 2. The paper's M = T * runs, twice because of the prefetch: blocks of T bytes, two a run, and those on their
// way to the disk. So a merge takes at most `fan_in` runs.
struct MergePlan {
    std::size_t fan_in = 0;
    std::size_t margin = 0;  // before each block, for the begin of the record that it ends
    std::size_t block = 0, write_block = 0;
};

// For as many of `runs` as can be. Nothing when that is not even two.
[[nodiscard]] std::optional<MergePlan> plan_merge(std::size_t memory, std::size_t runs, std::size_t longest_record);

// For the threads of the pipeline and what is too small to be counted.
inline constexpr std::size_t reserve = std::size_t{4} << 20;
[[nodiscard]] std::size_t min_memory(const Format& format);
// The longest line that phase 2 can be sure to merge.
[[nodiscard]] std::size_t longest_line(std::size_t memory);

// Bytes of main memory that the program holds now, and at most until now; 0 where the system does not say.
[[nodiscard]] std::size_t resident_bytes();
[[nodiscard]] std::size_t peak_resident_bytes();

}  // namespace quadmill::detail::external
