// What --profile prints about passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "quadmill/context.hpp"

namespace quadmill::detail::cli {

// On standard error: a table, and the limits of the device that it is measured by. Pre: nobody observes the context.
void print_passes(Context& context, const std::vector<PassProfiler::Row>& rows);

// What a sort by blending costs, counted as SIGMOD'05 does.
struct Blending {
    std::uint64_t keys = 0;
    // Steps of the passes that the GPU did not skip; without, all that were issued count.
    std::optional<std::uint64_t> steps{};
    std::optional<std::uint64_t> merge_moves{};
};
// On standard error: comparisons, blend operations a key, and clock cycles of one. Pre: nobody observes the context.
void print_blending(const Context& context, const std::vector<PassProfiler::Row>& rows, const Blending& of);

}  // namespace quadmill::detail::cli
