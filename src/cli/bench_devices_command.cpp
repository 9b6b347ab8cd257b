#include <fmt/core.h>

#include <memory>
#include <vector>

#include "bench/device_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "cli/devices.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

struct BenchDevices : BenchRun {
    Devices devices;
    std::size_t n = std::size_t{1} << 26U;

    void run() const;
};

void BenchDevices::run() const {
    const auto group = devices.group();
    auto report = facts(group.contexts()[0], {});
    if (!json) print_facts(group.contexts()[0], fmt::format("{} devices next to the first", group.contexts().size()));
    report["cases"] = Json::array();
    bool right = true;
    for (const auto& found : bench::bench_devices(group, n, repeat)) {
        right = right && found.verified;
        const auto keys_per_s = [&](double ms) { return static_cast<double>(found.n) / ms * 1e3; };
        const auto of = [&](const bench::DeviceTimes& times) {
            return Json{{"ms", times.ms},           {"low_ms", times.low_ms},
                        {"high_ms", times.high_ms}, {"merge_ms", times.merge_ms},
                        {"wait_ms", times.wait_ms}, {"values_per_s", keys_per_s(times.ms)}};
        };
        report["cases"].push_back({{"what", found.what},
                                   {"n", found.n},
                                   {"verified", found.verified},
                                   {"one", of(found.one)},
                                   {"all", of(found.all)},
                                   {"times_as_fast", found.times_as_fast()}});
        if (!json)
            fmt::print(
                "{:<22} n {:>10}: one {:>9.2f} ms, {:>6.1f} M/s; all {:>9.2f} ms ({:.2f} .. {:.2f}), {:>6.1f} M/s, "
                "{:.2f} ms of it merging, {:.2f} waiting; {:.2f} times as fast{}\n",
                found.what, found.n, found.one.ms, keys_per_s(found.one.ms) / 1e6, found.all.ms, found.all.low_ms,
                found.all.high_ms, keys_per_s(found.all.ms) / 1e6, found.all.merge_ms, found.all.wait_ms,
                found.times_as_fast(), found.verified ? "" : "  WRONG RESULT");
    }
    report["devices"] = shares_json(group.shares());
    warn_of_failures(group.shares());
    if (json) fmt::print("{}\n", report.dump());
    if (!right) throw Error("bench devices: a result was wrong; see above");
}

}  // namespace

void add_bench_devices_command(CLI::App& bench, const std::string& command_line) {
    auto command = std::make_shared<BenchDevices>();
    command->command_line = command_line;
    auto* verb =
        bench.add_subcommand("devices", "Sorts and streams on several devices at a time, compared with one of them");
    verb->add_option("--n", command->n, "Keys, 1000 or 2^20")->transform(count_of_keys())->default_str("2^26");
    command->add_report_options(*verb);
    add_devices_option(*verb, command->devices);
    verb->footer("Example:\n  quadmill bench devices --device 0,1");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
