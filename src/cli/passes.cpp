#include "cli/passes.hpp"

#include <fmt/core.h>

#include "bench/limits.hpp"

namespace quadmill::cli {

void print_passes(Context& context, const std::vector<PassProfiler::Row>& rows) {
    detail::bench::FillLimits limits(context);
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

}  // namespace quadmill::cli
