// Sizes at which one way of doing a thing becomes quicker than another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadmill::detail::query {

struct Tuning {
    // QueryEngine::Auto: tables of fewer rows are the CPU's.
    std::size_t gpu_rows = std::size_t{1} << 18U;
    // JoinMethod::Auto: nested loops for at most so many comparisons. On 2 CPU cores, 256 rows against 256 took 0.10 ms
    // by nested loops and 0.02 ms sorted, 4096 against 4096 took 30 and 0.6 ms.
    std::uint64_t nested_comparisons = std::uint64_t{1} << 12U;
    // JoinMethod::Auto, where nested loops are the GPU's: these for at most so many comparisons for each row of both
    // sides, beyond what the CPU does in less time than passes take.
    std::uint64_t gpu_comparisons_a_row = 0;
    std::size_t gpu_join_rows = std::size_t{1} << 11U;  // of both sides, at least
    std::size_t gpu_join_keys = std::size_t{1} << 24U;  // of the right side, at most: they take GPU memory
    // Groups that an engine finds and selects one by one, some passes each. With more, the rows selected are read back
    // and dealt out to groups on the CPU; on the CPU that is always quicker.
    std::size_t engine_groups = 0;
    // Pairs of a join that are dealt with at once.
    std::size_t chunk = std::size_t{1} << 16U;
};
inline constexpr std::size_t gpu_engine_groups = 64;
// Guessed: 1e11 comparisons a second; sorting and merging, 75 ns a row on the CPU.
inline constexpr std::uint64_t gpu_comparisons_a_row = std::uint64_t{1} << 12U;

inline constexpr std::size_t most_groups = std::size_t{1} << 16U;

}  // namespace quadmill::detail::query
