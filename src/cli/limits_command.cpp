#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/cache.hpp"
#include "bench/limits.hpp"
#include "cli/commands.hpp"
#include "input/checks.hpp"

namespace quadmill::detail::cli {

namespace {
struct LimitsOptions {
    bool json = false;
    int device = -1;
    bench::LimitsRequest request;
};

using bench::CacheReport;

nlohmann::ordered_json to_json(const CacheReport& cache) {
    nlohmann::ordered_json out{{"side", cache.side},
                               {"block_width", cache.block_width},
                               {"block_height", cache.block_height},
                               {"cache_bytes", cache.cache_bytes},
                               {"sort_predicted", cache.sort_predicted},
                               {"sort_measured", cache.sort_measured}};
    for (const auto& one : cache.strided)
        out["strides"].push_back({{"stride", one.stride}, {"across", one.across}, {"down", one.down}});
    for (const auto& one : cache.windows)
        out["windows"].push_back({{"bytes", one.bytes}, {"gfetches_per_s", one.rate}});
    for (const auto& one : cache.steps)
        out["steps"].push_back({{"rows", one.rows}, {"predicted", one.predicted}, {"measured", one.measured}});
    return out;
}

void print(const CacheReport& cache) {
    fmt::print(
        "\n"
        "Cache, from fetches of RGBA32F: blocks of {} x {} texels, {} KiB (inferred from the rates "
        "below)\n",
        cache.block_width, cache.block_height, static_cast<double>(cache.cache_bytes) / 1024);
    fmt::print("{:<24}", "stride");
    for (const auto& one : cache.strided) fmt::print(" {:>8}", one.stride);
    fmt::print("\n{:<24}", "in columns, Gfetch/s");
    for (const auto& one : cache.strided) fmt::print(" {:>8.3f}", one.across);
    fmt::print("\n{:<24}", "in rows, Gfetch/s");
    for (const auto& one : cache.strided) fmt::print(" {:>8.3f}", one.down);
    fmt::print("\n{:<24}", "within KiB");
    for (const auto& one : cache.windows) fmt::print(" {:>8}", static_cast<double>(one.bytes) / 1024);
    fmt::print("\n{:<24}", "anywhere, Gfetch/s");
    for (const auto& one : cache.windows) fmt::print(" {:>8.3f}", one.rate);
    fmt::print(
        "\n\nSteps of a bitonic sort, quads of h rows; misses by the model 2WH/(hB), and the time measured\n{:<24}",
        "h");
    for (const auto& one : cache.steps) fmt::print(" {:>8}", one.rows);
    fmt::print("\n{:<24}", "predicted");
    for (const auto& one : cache.steps) fmt::print(" {:>8.2f}", one.predicted);
    fmt::print("\n{:<24}", "measured");
    for (const auto& one : cache.steps) fmt::print(" {:>8.2f}", one.measured);
    fmt::print("\n{:<24} {:>8.2f} by the model f(B), {:.2f} measured\n", "all steps of a sort", cache.sort_predicted,
               cache.sort_measured);
}

}  // namespace

void add_limits_command(CLI::App& app) {
    auto options = std::make_shared<LimitsOptions>();
    auto* command =
        app.add_subcommand("limits", "Measure the limits of this machine's graphics pipeline and its cache");
    command->add_flag("--json", options->json, "One JSON object on standard output");
    command->add_option("--side", options->request.side, "Width and height of the textures used")
        ->check(input::shown_number(1, 8192))
        ->capture_default_str();
    command
        ->add_option("--repeat", options->request.repeat, "Number of measurements of each limit; the median is printed")
        ->check(input::shown_number(1, 1000))
        ->capture_default_str();
    add_device_option(*command, options->device);
    command->footer(
        "Examples:\n"
        "  quadmill limits\n"
        "  quadmill limits --side 1024 --json");
    command->callback([options] {
        auto context = Context::headless({.device = options->device});
        const auto limits = bench::measure_limits(context, options->request);
        const bool has_cache = options->request.side >= CacheReport::min_side;
        const auto cache = has_cache ? bench::measure_cache(context, options->request) : CacheReport{};
        if (options->json) {
            nlohmann::ordered_json out{{"renderer", context.info().renderer},
                                       {"side", options->request.side},
                                       {"repeat", options->request.repeat},
                                       {"limits", nlohmann::ordered_json::array()}};
            for (const auto& l : limits) {
                out["limits"].push_back(
                    {{"name", l.name}, {"value", l.value}, {"low", l.low}, {"high", l.high}, {"unit", l.unit}});
            }
            out["cache"] = has_cache ? to_json(cache) : nlohmann::ordered_json();
            fmt::print("{}\n", out.dump());
            return;
        }
        fmt::print("{}, textures of {} x {}, median of {} (lowest .. highest)\n", context.info().renderer,
                   options->request.side, options->request.side, options->request.repeat);
        for (const auto& l : limits)
            fmt::print("{:<40} {:>10.3f} {:<9} ({:.3f} .. {:.3f})\n", l.name, l.value, l.unit, l.low, l.high);
        if (has_cache) print(cache);
    });
}

}  // namespace quadmill::detail::cli
