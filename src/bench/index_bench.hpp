// Counts of rectangles with an index, and by reading the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

struct IndexBenchOptions {
    std::size_t n = std::size_t{1} << 22U;  // rows
    std::vector<double> selected{};         // fractions of the rows
    int repeat = 5;                         // rectangles of each fraction
    unsigned threads = 0;                   // of the CPU; 0: all
};

// Times of one count: the median, min and max over rectangles at random positions.
struct IndexTimes {
    std::string name;
    std::optional<double> gpu_ms{};          // of the passes, the mean; nothing for the CPU
    double ms = 0, low_ms = 0, high_ms = 0;  // from the call to the answer
    std::uint64_t passes = 0;                // of the last rectangle
    bool verified = true;
};

struct IndexCase {
    double selected = 0;
    double tested = 0;  // mean number of rows that the index tested
    std::vector<IndexTimes> times{};
};

// An index of some columns of query_table().
struct IndexOfColumns {
    std::string columns;
    double build_ms = 0, build_low_ms = 0, build_high_ms = 0;
    double sort_ms = 0;  // for one column: a sorted copy on all threads of the CPU
    std::size_t bytes = 0, cpu_bytes = 0;
    std::vector<PassProfiler::Row> build{};  // passes
    std::vector<IndexCase> cases{};
};

// One column and two of 32 bits, and two of which one has 64 bits.
[[nodiscard]] std::vector<IndexOfColumns> measure_index(const Context& context, const IndexBenchOptions& options);

}  // namespace quadmill::detail::bench
