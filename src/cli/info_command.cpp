#include <fmt/core.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.hpp"
#include "gl/device.hpp"
#include "gl/lanes.hpp"
#include "quadmill/context.hpp"
#include "quadmill/version.hpp"

namespace quadmill::detail::cli {

namespace {

struct InfoOptions {
    bool json = false;
    int device = -1;
    OpenGl api = OpenGl::Best;
};

// Whether MergeKernel::Subgroup of the merge engine works here.
bool has_subgroups(const Context& context) {
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "info");
    return gl::has_lanes_in_boxes(device);
}

void print_json(const Context& context, const std::vector<DeviceInfo>& devices) {
    const auto& info = context.info();
    nlohmann::ordered_json out{{"version", QUADMILL_VERSION},
                               {"renderer", info.renderer},
                               {"vendor", info.vendor},
                               {"api", name_of(info.api)},
                               {"opengl", info.version},
                               {"glsl", info.shading_language},
                               {"platform", info.platform},
                               {"surface", info.surface},
                               {"robust", info.robust},
                               {"software", info.software},
                               {"max_texture_size", info.max_texture_size},
                               {"max_array_layers", info.max_array_layers},
                               {"max_draw_buffers", info.max_draw_buffers},
                               {"max_viewport", {info.max_viewport_width, info.max_viewport_height}},
                               {"optional_extensions", info.optional_extensions},
                               {"merge_kernel", has_subgroups(context) ? "subgroup" : "fragment"},
                               {"devices", nlohmann::ordered_json::array()}};
    for (const auto& device : devices) out["devices"].push_back({{"index", device.index}, {"name", device.name}});
    fmt::print("{}\n", out.dump());
}

void print_text(const Context& context, const std::vector<DeviceInfo>& devices) {
    const auto& info = context.info();
    fmt::print("quadmill     {}\n", QUADMILL_VERSION);
    fmt::print("renderer     {}{}\n", info.renderer, info.software ? " (on the CPU)" : "");
    fmt::print("OpenGL       {}, GLSL {}\n", info.version, info.shading_language);
    fmt::print("used as      {}\n", name_of(info.api));
    fmt::print("vendor       {}\n", info.vendor);
    fmt::print("platform     {}, surface: {}, robust access: {}\n", info.platform, info.surface,
               info.robust ? "yes" : "no");
    fmt::print("limits       texture {} x {}, {} layers, {} draw buffers, viewport {} x {}\n", info.max_texture_size,
               info.max_texture_size, info.max_array_layers, info.max_draw_buffers, info.max_viewport_width,
               info.max_viewport_height);
    fmt::print("optional     {}\n",
               info.optional_extensions.empty() ? "none" : fmt::format("{}", fmt::join(info.optional_extensions, " ")));
    fmt::print("merge sort   {}\n", has_subgroups(context)
                                        ? "by subgroups of 32 fragments in boxes of 4 x 8"
                                        : "by single fragments: the driver has no subgroups of 4 x 8");
    if (devices.empty()) fmt::print("devices      EGL cannot list them\n");
    for (const auto& device : devices) fmt::print("device {}     {}\n", device.index, device.name);
}

}  // namespace

void add_info_command(CLI::App& app) {
    auto options = std::make_shared<InfoOptions>();
    auto* command = app.add_subcommand("info", "Show the OpenGL driver and what it can do");
    command->add_flag("--json", options->json, "One JSON object on standard output");
    add_device_option(*command, options->device);
    add_api_option(*command, options->api);
    command->footer(
        "Examples:\n"
        "  quadmill info\n"
        "  quadmill info --json --api gl33");
    command->callback([options] {
        const auto context = Context::headless({.api = options->api, .device = options->device});
        (options->json ? print_json : print_text)(context, Context::devices());
    });
}

}  // namespace quadmill::detail::cli
