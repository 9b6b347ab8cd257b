// The tables of --profile.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "quadmill/context.hpp"

namespace quadmill::detail::cli {

// Prints a table on standard error, with the measured limits of the device. Pre: no observer is set.
void print_passes(Context& context, const std::vector<PassProfiler::Row>& rows);

// The cost of a sort with blending, counted as in SIGMOD'05.
struct Blending {
    std::uint64_t keys = 0;
    // Steps that the GPU did not skip; unset: all issued steps.
    std::optional<std::uint64_t> steps{};
    std::optional<std::uint64_t> merge_moves{};
};
// Prints comparisons, blend operations per key, and their clock cycles on standard error. Pre: no observer is set.
void print_blending(const Context& context, const std::vector<PassProfiler::Row>& rows, const Blending& of);

}  // namespace quadmill::detail::cli
