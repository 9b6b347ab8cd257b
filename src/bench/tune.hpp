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
// From where on the second of two wins: between the last of the points where it lost and the first of those, to the end,
// where it won, as if both grew by a power of n. Nothing where it lost the last. Pre: n ascends.
[[nodiscard]] std::optional<std::size_t> crossing(std::span<const TunePoint> points,
                                                  const std::function<double(const TunePoint&)>& first,
                                                  const std::function<double(const TunePoint&)>& second);

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

// Takes about a minute, or some ten seconds. `found` is told of each case.
// Throws Error when engines disagree.
[[nodiscard]] TuneResult tune(const Context& context, unsigned threads, TuneLength length,
                              const std::function<void(const TuneCase&)>& found);

}  // namespace quadmill::detail::bench
