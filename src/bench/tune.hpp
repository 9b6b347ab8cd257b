// Measures the crossovers between CPU and GPU on this machine, as numbers of keys, rows and comparisons.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

// Times of the CPU and the GPU for that number; and of Engine::Hybrid, if requested.
struct TunePoint {
    std::size_t n = 0;
    double cpu_ms = 0, gpu_ms = 0;
    std::optional<double> hybrid_ms{};
};
using TimeOf = std::function<double(const TunePoint&)>;
// The crossover to the second of two contenders: between the last point at which it was slower and the next one, after
// which it was always faster, interpolated as powers of n. Nothing if it was slower at the last point. Pre: n ascends.
[[nodiscard]] std::optional<std::size_t> crossing(std::span<const TunePoint> points, const TimeOf& first,
                                                  const TimeOf& second);
// The predicted crossover beyond the last point, from a line through the last two points of each contender. Nothing if
// the second line is not flatter, or they meet beyond `max_n`. Pre: n ascends, and the second contender was slower at
// the last point.
[[nodiscard]] std::optional<std::size_t> predicted_crossing(std::span<const TunePoint> points, const TimeOf& first,
                                                            const TimeOf& second, std::size_t max_n);
// The measured crossover if there is one, otherwise the predicted one.
[[nodiscard]] std::optional<std::size_t> crossing_or_predicted(std::span<const TunePoint> points, const TimeOf& first,
                                                               const TimeOf& second);

// Sizes to measure, each four times the previous one, until the measurements have taken `ms` in total; at least
// `min_points`.
struct TuneLimits {
    std::size_t min_n = 0, max_n = 0;
    double ms = 0;
    std::size_t min_points = 3;
};
// Measures increasing sizes. If the GPU is not faster at the last one, but is predicted to be at a larger size, that
// size is measured, too. Finally measures at the crossover.
[[nodiscard]] std::vector<TunePoint> measure_points(const TuneLimits& limits,
                                                    const std::function<TunePoint(std::size_t n)>& measure);

struct TuneCase {
    std::string what;  // "keys of 32 bits", "a predicate"
    std::vector<TunePoint> points{};
};
// What a statement on a table from a file costs, per row; 0: not measured.
struct StatementCosts {
    double cpu_ns = 0, gpu_ns = 0;              // a predicate of a column that is loaded
    double cpu_rank_ns = 0, gpu_rank_ns = 0;    // a median of such a column
    double cpu_group_ns = 0, gpu_group_ns = 0;  // counts of 50 groups of such a column
    double cpu_join_ns = 0, gpu_join_ns = 0;    // a join: a row of a table; a pair of rows in loops
    double load_ns = 0;                         // loading a column to the GPU
    double start_ms = 0;                        // opening a context and compiling programs, once
    bool operator==(const StatementCosts&) const = default;
};
struct TuneResult {
    SortCrossings sort;
    QueryCrossings query;
    StatementCosts statements;  // start_ms without the context, which is open
    std::vector<TuneCase> cases;
};

enum class TuneLength { Whole, Quick };

// Takes one to two minutes, or less than one (Quick). Calls `found` for each case. Throws Error if engines disagree.
[[nodiscard]] TuneResult tune(const Context& context, unsigned threads, TuneLength length,
                              const std::function<void(const TuneCase&)>& found);

}  // namespace quadmill::detail::bench
