#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/limits.hpp"
#include "cli/commands.hpp"

namespace quadmill::cli {

namespace {
struct LimitsOptions {
    bool json = false;
    int device = -1;
    detail::bench::LimitsRequest request;
};
}  // namespace

void add_limits_command(CLI::App& app) {
    auto options = std::make_shared<LimitsOptions>();
    auto* command = app.add_subcommand(
        "limits", "Measure what this machine's graphics pipeline can do at most: fill, fetch, test, scatter, transfer");
    command->add_flag("--json", options->json, "One JSON object on standard output");
    command->add_option("--side", options->request.side, "Width and height of the textures used")
        ->check(CLI::Range(1, 8192))
        ->capture_default_str();
    command->add_option("--repeat", options->request.repeat, "Times each limit is measured; the median counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    add_device_option(*command, options->device);
    command->callback([options] {
        auto context = Context::headless({.device = options->device});
        const auto limits = detail::bench::measure_limits(context, options->request);
        if (options->json) {
            nlohmann::ordered_json out{{"renderer", context.info().renderer},
                                       {"side", options->request.side},
                                       {"repeat", options->request.repeat},
                                       {"limits", nlohmann::ordered_json::array()}};
            for (const auto& l : limits) {
                out["limits"].push_back(
                    {{"name", l.name}, {"value", l.value}, {"low", l.low}, {"high", l.high}, {"unit", l.unit}});
            }
            fmt::print("{}\n", out.dump());
            return;
        }
        fmt::print("{}, textures of {} x {}, median of {} (lowest .. highest)\n", context.info().renderer,
                   options->request.side, options->request.side, options->request.repeat);
        for (const auto& l : limits)
            fmt::print("{:<40} {:>10.3f} {:<9} ({:.3f} .. {:.3f})\n", l.name, l.value, l.unit, l.low, l.high);
    });
}

}  // namespace quadmill::cli
