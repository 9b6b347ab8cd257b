// Crossover sizes between algorithms.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadmill::detail::query {

struct Tuning {
    // QueryEngine::Auto: the CPU takes tables with fewer rows. With loaded columns on an H100 and 16 CPU cores, a
    // predicate takes 0.16 ms on the GPU and 0.19 ms on the CPU at 2^20 rows, and 0.2 and 0.3 ms at 2^22 rows; a sum
    // takes 0.46 and 0.41 ms, and 0.6 and 1.0 ms. Loading a column costs as much as several queries on the CPU.
    std::uint64_t gpu_rows = std::uint64_t{1} << 20U;
    // The same limit for ranks. A median takes 0.9 ms on both at 2^16 rows; on the GPU and the CPU it takes 0.47 and
    // 0.94 ms at 2^18 rows, 1.0 and 1.6 ms at 2^20, and 8.1 and 46 ms at 2^26.
    std::uint64_t gpu_rank_rows = std::uint64_t{1} << 18U;
    // JoinMethod::Auto: max comparisons of nested loops. On 2 CPU cores, 256 rows against 256 took 0.10 ms with nested
    // loops and 0.02 ms with sorting; 4096 against 4096 took 30 and 0.6 ms.
    std::uint64_t nested_comparisons = std::uint64_t{1} << 12U;
    // JoinMethod::Auto, if nested loops run on the GPU: max comparisons per row of both sides, unless the CPU is faster
    // than a few passes.
    std::uint64_t gpu_comparisons_a_row = 0;
    std::size_t gpu_join_rows = std::size_t{1} << 13U;  // min rows of both sides together
    std::size_t gpu_join_keys = std::size_t{1} << 24U;  // max rows of the right side, which take GPU memory
    // Max groups that an engine finds and selects one by one, in some passes each. On the CPU this is never faster.
    std::size_t engine_groups = 0;
    // Rows that one thread groups before the results are merged.
    std::size_t rows_a_deal = std::size_t{1} << 18U;
    // Pairs of a join that are processed together.
    std::size_t chunk = std::size_t{1} << 16U;
};
inline constexpr std::size_t gpu_engine_groups = 64;
// On an H100 and 16 CPU cores, nested loops and sort-merge take 0.8 and 1.1 ms for 1024 x 8192 rows, 1.5 and 1.7 ms for
// 1024 x 32768, 1.0 and 1.1 ms for 4096 x 4096, and 4.8 and 3.1 ms for 16384 x 16384.
inline constexpr std::uint64_t gpu_comparisons_a_row = std::uint64_t{1} << 10U;

}  // namespace quadmill::detail::query
