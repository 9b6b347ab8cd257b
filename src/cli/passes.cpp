#include "cli/passes.hpp"

#include <fmt/core.h>

#include "bench/limits.hpp"

namespace quadmill::detail::cli {

void print_passes(Context& context, const std::vector<PassProfiler::Row>& rows) {
    bench::FillLimits limits(context);
    fmt::print(stderr, "{:<20} {:>8} {:>12} {:>12} {:>10} {:>10}\n", "pass", "passes", "GPU ms", "us a pass",
               "Gtexel/s", "% of limit");
    for (const auto& row : rows) {
        const double rate = row.gpu_ms > 0 ? static_cast<double>(row.texels) / row.gpu_ms * 1e-6 : 0;
        fmt::print(stderr, "{:<20} {:>8} {:>12.3f} {:>12.2f} {:>10.3f} {:>10.0f}\n", row.name, row.passes, row.gpu_ms,
                   row.gpu_ms * 1e3 / static_cast<double>(row.passes), rate,
                   100 * rate / limits.rate(row.format, row.write));
    }
    for (const auto& limit : limits.measured())
        fmt::print(stderr, "limit: {} {:.3f} {}\n", limit.name, limit.value, limit.unit);
}

// Section 4.5: one blend operation compares the four channels of a texel. MIN and MAX each draw half of the texels, so
// a step blends every texel once.
void print_blending(const Context& context, const std::vector<PassProfiler::Row>& rows, const Blending& of) {
    std::uint64_t texels = 0, issued = 0;
    double ms = 0;
    for (const auto& row : rows) {
        if (row.write != PassEvent::Write::Blend) continue;
        texels += row.texels;
        ms += row.gpu_ms;
        if (row.name.starts_with("min")) issued += row.passes;
    }
    if (texels == 0 || of.keys == 0) return;
    const double run = of.steps && issued > 0 ? static_cast<double>(*of.steps) / static_cast<double>(issued) : 1;
    const double blends = run * static_cast<double>(texels), n = static_cast<double>(of.keys);
    const auto line = [](const std::string& what, const std::string& amount) {
        fmt::print(stderr, "{:<34} {}\n", what, amount);
    };
    line("comparisons by blending", fmt::format("{:.4g}, {:.4g} a key", 4 * blends, 4 * blends / n));
    if (of.merge_moves) {
        const auto moves = static_cast<double>(*of.merge_moves);
        line("keys merged on the CPU", fmt::format("{:.4g}, {:.4g} a key", moves, moves / n));
    }
    line("blend operations of four channels", fmt::format("{:.4g}, {:.4g} a key", blends, blends / n));
    line("time of one", fmt::format("{:.4g} ns", ms * 1e6 / blends));
    const auto clock = bench::clock_rate(context);
    line("clock cycles of one",
         clock ? fmt::format("{:.4g} of the whole chip, at {:.3f} GHz", ms * 1e6 / blends * clock->value, clock->value)
               : "the clock cannot be read here");
}

}  // namespace quadmill::detail::cli
