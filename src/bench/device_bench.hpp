// Compares several devices with one of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "quadmill/device_group.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

struct DeviceTimes {
    double ms = 0, low_ms = 0, high_ms = 0;  // median, lowest, highest
    double merge_ms = 0;                     // part of `ms`: merging on the CPU; for a stream, sampling and merging
    double wait_ms = 0;                      // part of `ms`, for a stream: time that its thread waited for devices
};

struct DeviceCase {
    std::string what;  // "sort", "windows of 4096", "quantiles, eps 0.01"
    std::size_t n = 0;
    DeviceTimes one, all;
    bool verified = true;
    [[nodiscard]] double times_as_fast() const { return one.ms / all.ms; }
};

// f32 keys in memory: a sort, batches of windows, and quantiles of a stream, each `repeat` times. The single device is
// the first context of `group`, with a Sorter and window sorter of its own.
std::vector<DeviceCase> bench_devices(const DeviceGroup& group, std::size_t n, int repeat);

}  // namespace quadmill::detail::bench
