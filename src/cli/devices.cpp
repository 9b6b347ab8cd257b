#include "cli/devices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "gl/egl.hpp"
#include "input/checks.hpp"
#include "input/text.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

// Checks the number even if the CPU does the work, so that a wrong one is noticed.
std::string there_is_device(const std::string& index) {
    const auto count = Context::devices().size();
    std::uint64_t wanted = 0;
    if (input::parse_number(index, wanted) == nullptr && wanted < count) return {};
    throw ContextError(fmt::format("EGL has {} device{}, so there is no device {}; `quadmill info` lists them", count,
                                   count == 1 ? "" : "s", index));
}

}  // namespace

std::string name_of(OpenGl api) {
    return std::ranges::find(gl::api_words, api, &std::pair<const char*, OpenGl>::second)->first;
}

void add_api_option(CLI::App& command, OpenGl& api) {
    command
        .add_option(
            "--api", api,
            "Use this version of OpenGL and nothing later (default: QUADMILL_API, or the newest that the driver "
            "has)")
        ->transform(input::one_of(input::Words<OpenGl>(gl::api_words.begin(), gl::api_words.end())));
}

void add_device_option(CLI::App& command, int& device) {
    command
        .add_option("--device", device,
                    "Index of the EGL device, see `quadmill info` (default: QUADMILL_DEVICE, or the first that "
                    "works)")
        ->check(input::whole_number(0, 9999))
        ->check(there_is_device)
        ->type_name("N");
}

void add_devices_option(CLI::App& command, Devices& devices) {
    const auto take = [&devices](const std::string& list) {
        devices = {};
        for (const auto& word : CLI::detail::split(list, ',')) {
            if (word == "all") {
                devices.all = true;
                continue;
            }
            int index = -1;
            if (input::parse_number(word, index) != nullptr || index < 0)
                throw CLI::ValidationError("--device", "'" + word + "' is neither the index of a device nor 'all'");
            there_is_device(word);
            devices.indices.push_back(index);
        }
        if (!devices.all && devices.indices.empty())
            throw CLI::ValidationError("--device", "'' is neither the index of a device nor 'all'");
        if (devices.all && !devices.indices.empty())
            throw CLI::ValidationError("--device", "'all' includes the others; name only 'all'");
    };
    command
        .add_option_function<std::string>(
            "--device", take,
            "Index of the EGL device, see `quadmill info` (default: QUADMILL_DEVICE, or the first that "
            "works); several with commas, or all, share the work")
        ->type_name("N,...|all");
}

nlohmann::ordered_json shares_json(const std::vector<DeviceShare>& shares) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& share : shares) {
        nlohmann::ordered_json one{{"renderer", share.renderer}, {"batches", share.batches}, {"keys", share.keys}};
        one["failure"] = nullptr;
        if (!share.failure.empty()) one["failure"] = share.failure;
        all.push_back(std::move(one));
    }
    return all;
}

void warn_of_failures(const std::vector<DeviceShare>& shares) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (!shares[i].failure.empty())
            fmt::print(stderr, "quadmill: device {} of {} ({}) failed, and the others did its work: {}\n", i + 1,
                       shares.size(), shares[i].renderer, shares[i].failure);
    }
}

}  // namespace quadmill::detail::cli
