// Reports of calls that do not wait for the GPU.
#pragma once

#include <vector>

#include "bench/call_times.hpp"
#include "cli/json.hpp"

namespace quadmill::detail::cli {

// A table; with_parts: also the time of each kind of pass.
void print_call_times(const std::vector<bench::CallTimes>& found, bool with_parts);
[[nodiscard]] Json call_times_json(const std::vector<bench::CallTimes>& found);

}  // namespace quadmill::detail::cli
