// `quadmill sort` of numbers that do not fit into memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/reading.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::cli {

struct SpillRun {
    std::string input, output;
    input::Reading reading;
    Order order = Order::Ascending;
    std::uint64_t memory = 0;
    std::vector<std::string> temp;
    unsigned threads = 0;
    bool stats = false;
};
// Sorts by way of temporary files, with the answers of a sort in memory.
void sort_by_spilling(const SpillRun& run);

}  // namespace quadmill::detail::cli
