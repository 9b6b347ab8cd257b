#include "bench/device_bench.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bench/borrowed.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/sample_keys.hpp"
#include "cpu/sort.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill::detail::bench {

namespace {

constexpr std::size_t window = 4096;

// The times of one run, and whether its result was right.
struct Run {
    double ms = 0, merge_ms = 0, wait_ms = 0;
    bool right = true;
};

bool is_sorted(std::span<const float> keys, std::size_t size) {
    for (std::size_t begin = 0; begin < keys.size(); begin += size) {
        const auto part = keys.subspan(begin, std::min(size, keys.size() - begin));
        if (!std::ranges::is_sorted(part)) return false;
    }
    return true;
}

struct Bench {
    const DeviceGroup& group;
    std::vector<float> input;
    int repeat;

    // A run with new keys. `sort` returns the time of merging.
    Run sorted(std::size_t size, const std::function<double(std::span<float>)>& sort) const {
        auto keys = input;
        const cpu::Stopwatch time;
        const auto merge_ms = sort(keys);
        const auto ms = time.ms();
        return {ms, merge_ms, 0, is_sorted(keys, size) && cpu::checksum(Keys(keys)) == checksum};
    }
    std::uint64_t checksum = 0;

    // One untimed run, then `repeat` timed runs, each on GPUs at full clock. The objects of one device are destroyed
    // before those of the group are made, because they share a context.
    DeviceTimes measure(const std::function<Run()>& run, bool& right) const {
        std::vector<Run> runs;
        right = run().right && right;
        for (int i = 0; i < repeat; ++i) {
            wake(group.contexts()[0], [&] { right = run().right && right; });
            runs.push_back(run());
            right = runs.back().right && right;
        }
        DeviceTimes times{.merge_ms = spread_of(runs, &Run::merge_ms).median,
                          .wait_ms = spread_of(runs, &Run::wait_ms).median};
        spread_of(runs, &Run::ms).note_in(times);
        return times;
    }
    static double by_windows(WindowSorter& sorter, std::span<float> keys) {
        const auto batch = sorter.batch_bytes() / sizeof(float);
        std::size_t in_flight = 0;
        for (std::size_t begin = 0; begin < keys.size(); begin += batch) {
            if (in_flight == sorter.depth()) {
                sorter.finish();
                --in_flight;
            }
            sorter.begin(keys.subspan(begin, std::min(batch, keys.size() - begin)), window);
            ++in_flight;
        }
        for (; in_flight > 0; --in_flight) sorter.finish();
        return 0;
    }
    [[nodiscard]] Run quantiles(WindowSorter& sorter) const {
        constexpr double eps = 0.01;
        auto borrowed = std::make_unique<Borrowed>(sorter);
        const auto& batches = *borrowed;
        Quantiles<float> summary({.eps = eps}, std::move(borrowed));
        const cpu::Stopwatch time;
        summary.add(input);
        const auto median = summary.quantile(0.5);
        const auto ms = time.ms();
        const auto parts = summary.times();
        const auto rank =
            static_cast<double>(std::ranges::count_if(input, [&](float value) { return value <= median.value; }));
        const auto off = std::abs(rank - 0.5 * static_cast<double>(input.size()));
        return {ms, parts.sample + parts.merge + parts.compress, batches.waited_ms(),
                off <= eps * static_cast<double>(input.size()) + 1};
    }
    [[nodiscard]] std::unique_ptr<WindowSorter> windows_of_one() const {
        return window_sorter(group.contexts()[0], {.engine = Engine::Merge});
    }
    [[nodiscard]] std::unique_ptr<WindowSorter> windows_of_all() const {
        return window_sorter(group, {.engine = Engine::Merge});
    }

    [[nodiscard]] DeviceCase sort() const {
        DeviceCase found{"sort", input.size(), {}, {}, true};
        {
            Sorter sorter(group.contexts()[0], {.engine = Engine::Merge});
            found.one = measure(
                [&] { return sorted(input.size(), [&](std::span<float> keys) { return sorter.sort(keys).merge_ms; }); },
                found.verified);
        }
        GroupSorter sorter(group);
        found.all = measure(
            [&] { return sorted(input.size(), [&](std::span<float> keys) { return sorter.sort(keys).merge_ms; }); },
            found.verified);
        return found;
    }
    [[nodiscard]] DeviceCase windows() const {
        DeviceCase found{"windows of " + std::to_string(window), input.size(), {}, {}, true};
        const auto timed = [&](WindowSorter& sorter) {
            return measure(
                [&] { return sorted(window, [&](std::span<float> keys) { return by_windows(sorter, keys); }); },
                found.verified);
        };
        {
            const Session session(group.contexts()[0]);
            found.one = timed(*windows_of_one());
        }
        found.all = timed(*windows_of_all());
        return found;
    }
    [[nodiscard]] DeviceCase stream() const {
        DeviceCase found{"quantiles, eps 0.01", input.size(), {}, {}, true};
        {
            const Session session(group.contexts()[0]);
            const auto sorter = windows_of_one();
            found.one = measure([&] { return quantiles(*sorter); }, found.verified);
        }
        const auto sorter = windows_of_all();
        found.all = measure([&] { return quantiles(*sorter); }, found.verified);
        return found;
    }
};

}  // namespace

std::vector<DeviceCase> bench_devices(const DeviceGroup& group, std::size_t n, int repeat) {
    cpu::KeyBuffer keys(KeyType::F32, cpu::Distribution::Uniform, n, 2006);
    const auto all = keys.keys();
    Bench bench{group, {static_cast<const float*>(all.data()), static_cast<const float*>(all.data()) + n}, repeat};
    bench.checksum = cpu::checksum(all);
    return {bench.sort(), bench.windows(), bench.stream()};
}

}  // namespace quadmill::detail::bench
