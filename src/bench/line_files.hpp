// Files of lines for the bench of external sorts, and the programs that sort them by a column.
#pragma once

#include <cstdint>
#include <string>

#include "bench/external_bench.hpp"

namespace quadmill::detail::bench {

enum class LineColumn { Number, Text };

// The number of lines, and the column by which they are sorted.
struct LineCase {
    std::uint64_t lines;
    LineColumn column;
};

// `quadmill sort` of this program, GNU sort on all threads, and DuckDB through Node's package @duckdb/node-api, which
// node must find.
[[nodiscard]] FileContender line_sort_program(const std::string& memory, LineColumn column);
[[nodiscard]] FileContender gnu_line_sort(const std::string& memory, LineColumn column);
[[nodiscard]] FileContender duckdb_program(const std::string& memory, LineColumn column);

// Runs them as run_files() does. Their outputs must have the lines of the input, ordered by the column.
[[nodiscard]] FileCaseResult run_line_files(const BenchFolder& folder, const std::vector<FileContender>& contenders,
                                            const LineCase& which, int repeat);

}  // namespace quadmill::detail::bench
