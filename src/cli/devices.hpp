// --device for verbs that can use several devices.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/device_group.hpp"

namespace quadmill::detail::cli {

struct Devices {
    std::vector<int> indices;  // empty: the default device, or all with `all`
    bool all = false;

    // The single device. Pre: not several().
    [[nodiscard]] int one() const { return indices.empty() ? -1 : indices.front(); }
    [[nodiscard]] bool several() const { return all || indices.size() > 1; }
    [[nodiscard]] DeviceGroup group() const { return DeviceGroup::headless(indices); }
};

// --device N, N,N,... or all.
void add_devices_option(CLI::App& command, Devices& devices);

// The work of each device, for --stats.
[[nodiscard]] nlohmann::ordered_json shares_json(const std::vector<DeviceShare>& shares);
// Writes a line to standard error for each device that failed and whose work others took over.
void warn_of_failures(const std::vector<DeviceShare>& shares);

}  // namespace quadmill::detail::cli
