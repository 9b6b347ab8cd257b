#include "cli/bench_call_times.hpp"

#include <fmt/core.h>

#include "cli/bench_report.hpp"

namespace quadmill::detail::cli {

void print_call_times(const std::vector<bench::CallTimes>& found, bool with_parts) {
    fmt::print("{:<26} {:>10} {:>10} {:>22} {:>10} {:>8}\n", "", "call ms", "ms", "(lowest .. highest)", "GPU ms",
               "passes");
    for (const auto& times : found) {
        fmt::print("{:<26} {:>10.3f} {:>10.3f} {:>22} {:>10.3f} {:>8}{}\n", times.name, times.call_ms, times.ms,
                   spread_words(times), times.gpu_ms, times.passes, times.verified ? "" : "  WRONG RESULT");
        if (!with_parts) continue;
        for (const auto& part : times.parts)
            fmt::print("  {:<24} {:>54.3f} {:>8}\n", part.name, part.gpu_ms, part.passes);
    }
}

Json call_times_json(const std::vector<bench::CallTimes>& found) {
    auto out = Json::array();
    for (const auto& times : found) {
        out.push_back({{"name", times.name},
                       {"call_ms", times.call_ms},
                       {"ms", times.ms},
                       {"low_ms", times.low_ms},
                       {"high_ms", times.high_ms},
                       {"gpu_ms", times.gpu_ms},
                       {"passes", times.passes},
                       {"verified", times.verified}});
    }
    return out;
}

}  // namespace quadmill::detail::cli
