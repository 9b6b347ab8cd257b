// Crossover sizes between algorithms.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadmill::detail::query {

// Cost of a query on a GPU engine: nanoseconds per row, and microseconds in addition.
struct EngineCosts {
    double question_us;       // until the answer is on the CPU
    double test_ns;           // a comparison of a column
    double copy_ns;           // of a plane to the depth buffer
    double leaf_ns;           // another condition
    double count_ns;          // of what is selected
    double rank_ns, rank_us;  // a bit of a k-th value; of the bitmap engine, a word of its keys and all of it
    double fold_ns;           // a sum, MIN or MAX; of the depth engine, a bit of a sum
};

struct Tuning {
    // QueryEngine::Auto takes the cheaper one. Of an H100, 2^26 rows (docs/notes/queries.md): there it is never Depth.
    // Queries on few rows were not measured separately and use the same figures.
    EngineCosts depth{.question_us = 100,
                      .test_ns = 0.073,
                      .copy_ns = 0.101,
                      .leaf_ns = 0.122,
                      .count_ns = 0,
                      .rank_ns = 0.0714,
                      .rank_us = 5,
                      .fold_ns = 0.079};
    EngineCosts bitmap{.question_us = 100,
                       .test_ns = 0.0113,
                       .copy_ns = 0,
                       .leaf_ns = 0.037,
                       .count_ns = 0.0027,
                       .rank_ns = 0.112,
                       .rank_us = 350,
                       .fold_ns = 0.03};
    // QueryEngine::Auto: the CPU takes tables with fewer rows. With columns loaded, on an H100 and 16 cores next to it,
    // a predicate takes 0.16 ms against 0.19 at 2^20 rows, a sum 0.46 against 0.41; at 2^22 rows 0.2 against 0.3, and
    // 0.6 against 1.0. Loading a column costs what several queries on the CPU do.
    std::uint64_t gpu_rows = std::uint64_t{1} << 20U;
    // The same for ranks: a median takes 0.9 ms either way at 2^16 rows, 0.47 against 0.94 at 2^18, 1.0 against 1.6 at
    // 2^20, 8.1 against 46 at 2^26.
    std::uint64_t gpu_rank_rows = std::uint64_t{1} << 18U;
    // JoinMethod::Auto: nested loops for at most that many comparisons. On 2 CPU cores, 256 rows against 256 took 0.10
    // ms by nested loops and 0.02 ms sorted, 4096 against 4096 took 30 and 0.6 ms.
    std::uint64_t nested_comparisons = std::uint64_t{1} << 12U;
    // JoinMethod::Auto, if nested loops run on the GPU: for at most that many comparisons per row of both sides, unless
    // the CPU is faster than a few passes.
    std::uint64_t gpu_comparisons_a_row = 0;
    std::size_t gpu_join_rows = std::size_t{1} << 13U;  // of both sides, at least
    std::size_t gpu_join_keys = std::size_t{1} << 24U;  // of the right side, at most: they take GPU memory
    // Max groups that an engine finds and selects one by one, in some passes each; never faster on the CPU.
    std::size_t engine_groups = 0;
    // For more groups, whether the engine sorts the selected rows, if it can (Columns::group); otherwise they are read
    // back and grouped on the CPU.
    bool sorted_groups = true;
    // Rows that one thread groups before the results are merged.
    std::size_t rows_a_deal = std::size_t{1} << 18U;
    // Pairs of a join that are processed together.
    std::size_t chunk = std::size_t{1} << 16U;
};
inline constexpr std::size_t gpu_engine_groups = 64;
// On an H100 and 16 cores, nested loops against sort-merge, in ms: 1024 rows and 8192 0.8 against 1.1, 1024 and 32768
// 1.5 against 1.7, but 4096 and 4096 1.0 against 1.1, 16384 and 16384 4.8 against 3.1.
inline constexpr std::uint64_t gpu_comparisons_a_row = std::uint64_t{1} << 10U;

}  // namespace quadmill::detail::query
