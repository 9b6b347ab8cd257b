// Measures from how many keys, rows and comparisons on the GPU is worth its way, on this machine.
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

// How long the CPU and the GPU took for so many; and Engine::Hybrid, where it was asked.
struct TunePoint {
    std::size_t n = 0;
    double cpu_ms = 0, gpu_ms = 0;
    std::optional<double> hybrid_ms{};
};
using TimeOf = std::function<double(const TunePoint&)>;
// The number from which the second of two wins: between the last point where it lost and the first of those, to the
// end, where it won, as if both grew by a power of n. Nothing where it lost the last. Pre: n ascends.
[[nodiscard]] std::optional<std::size_t> crossing(std::span<const TunePoint> points, const TimeOf& first,
                                                  const TimeOf& second);
// Where the second will win beyond the last point, by a line through the last two points of each; nothing where its
// line is not the flatter one, or they meet beyond `max_n`. Pre: n ascends, and the second lost the last.
[[nodiscard]] std::optional<std::size_t> predicted_crossing(std::span<const TunePoint> points, const TimeOf& first,
                                                            const TimeOf& second, std::size_t max_n);
// The one or the other.
[[nodiscard]] std::optional<std::size_t> crossing_or_predicted(std::span<const TunePoint> points, const TimeOf& first,
                                                               const TimeOf& second);

// Sizes that are measured, each four times the one before, until all of them have taken `ms`; but `min_points` at
// least.
struct TuneLimits {
    std::size_t min_n = 0, max_n = 0;
    double ms = 0;
    std::size_t min_points = 3;
};
// Measures from few to many. Where the GPU has not won by then, but lines say that it will, measures there too; and
// measures once more where it begins to win.
[[nodiscard]] std::vector<TunePoint> measure_points(const TuneLimits& limits,
                                                    const std::function<TunePoint(std::size_t n)>& measure);

struct TuneCase {
    std::string what;  // "keys of 32 bits", "a predicate"
    std::vector<TunePoint> points{};
};
struct TuneResult {
    SortCrossings sort;
    QueryCrossings query;
    std::vector<TuneCase> cases;
};

enum class TuneLength { Whole, Quick };

// Takes one to two minutes, or less than one. `found` is told of each case.
// Throws Error when engines disagree.
[[nodiscard]] TuneResult tune(const Context& context, unsigned threads, TuneLength length,
                              const std::function<void(const TuneCase&)>& found);

}  // namespace quadmill::detail::bench
