#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "bench/guest_bench.hpp"
#include "cli/bench_call_times.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

struct BenchGuest : BenchRun {
    std::vector<std::size_t> sizes{65536, 500000};
    bool with_parts = false;

    void run();
};

void BenchGuest::run() {
    auto [context, why_not] = open_context();
    if (!context) throw ContextError(why_not);
    auto report = facts(context, {});
    if (!json) print_facts(context, "from the call to the end of the last pass");
    report["cases"] = Json::array();
    bool right = true;
    for (const auto n : sizes) {
        const auto found = bench::measure_guest(*context, n, repeat);
        right = right && std::ranges::all_of(found, &bench::CallTimes::verified);
        if (!json) {
            fmt::print("\n{} depths\n", n);
            print_call_times(found, with_parts);
        }
        report["cases"].push_back({{"n", n}, {"contenders", call_times_json(found)}});
    }
    if (json) fmt::print("{}\n", report.dump());
    if (!right) throw Error("bench guest: an order was wrong; see above");
}

}  // namespace

void add_bench_guest_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchGuest>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand(
        "guest", "Time orders of an application's keys: of the GPU, and of the CPU until the call returns");
    verb->add_option("--n", work->sizes, "Numbers of depths, comma-separated")
        ->delimiter(',')
        ->transform(count_of_keys())
        ->check(CLI::Range(1, 1 << 26))
        ->type_name("N,...")
        ->default_str("65536,500000");
    verb->add_flag("--parts", work->with_parts, "Also the time of each kind of pass");
    work->add_report_options(*verb);
    verb->footer(
        "Examples:\n"
        "  quadmill bench guest --parts\n"
        "  quadmill bench guest --n 2^20 --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
