#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/tune.hpp"
#include "cli/commands.hpp"
#include "cli/tuned.hpp"
#include "cpu/stopwatch.hpp"
#include "input/checks.hpp"
#include "input/standard_files.hpp"

namespace quadmill::detail::cli {

namespace {

struct TuneCommand {
    bool quick = false, json = false;
    int device = -1;
    unsigned threads = 0;

    void run() const;

  private:
    static void print_case(const bench::TuneCase& found);
    static void print_entry(const TunedEntry& entry);
};

void TuneCommand::print_case(const bench::TuneCase& found) {
    fmt::print("\n{}\n{:>10} {:>12} {:>12}", found.what, "n", "CPU, ms", "GPU, ms");
    const bool with_hybrid = !found.points.empty() && found.points[0].hybrid_ms;
    fmt::print("{}\n", with_hybrid ? fmt::format(" {:>12}", "both, ms") : "");
    for (const auto& point : found.points) {
        fmt::print("{:>10} {:>12.3f} {:>12.3f}{}\n", point.n, point.cpu_ms, point.gpu_ms,
                   point.hybrid_ms ? fmt::format(" {:>12.3f}", *point.hybrid_ms) : "");
    }
    std::fflush(stdout);
}

void TuneCommand::print_entry(const TunedEntry& entry) {
    const auto json = to_json(entry);
    fmt::print("\n{:<28} {:>15} {:>15} {:>15}\n", "crossover to the GPU", "16-bit keys", "32-bit keys", "64-bit keys");
    for (const auto& [kind, widths] : json.at("sort").items()) {
        fmt::print("{:<28}", kind);
        for (const auto& n : widths) fmt::print(" {:>15}", n.is_null() ? "never" : n.dump());
        fmt::print("\n");
    }
    const auto rows = [&](const char* what) {
        const auto& n = json.at("query").at(what);
        return n.is_null() ? "never" : n.dump();
    };
    fmt::print("{:<28} {:>15}\n{:<28} {:>15}\n{:<28} {:>15}\n", "rows of a query", rows("rows"), "rows of a median",
               rows("rank_rows"), "comparisons per joined row", entry.query.join_comparisons);
    const auto& costs = entry.statements;
    fmt::print(
        "statements of `query`, ns per row: a predicate {:.3f} on the CPU, {:.3f} on the GPU; a median {:.3f} and "
        "{:.3f}; loading a column {:.3f}; starting the GPU takes {:.0f} ms\n",
        costs.cpu_ns, costs.gpu_ns, costs.cpu_rank_ns, costs.gpu_rank_ns, costs.load_ns, costs.start_ms);
}

void TuneCommand::run() const {
    using namespace detail::bench;  // NOLINT(google-build-using-namespace): this function is that room's voice
    check_tuning_is_writable();     // checked now: tuning takes one to two minutes
    const cpu::Stopwatch opening;
    const auto context = Context::headless({.device = device});
    const double open_ms = opening.ms();
    auto entry = entry_for(context.info(), threads);
    entry.device = device;
    entry.machine = machine_facts();
    if (!json) fmt::print("{} ({}), {} CPU threads, {}\n", entry.renderer, entry.driver, entry.threads, entry.cpu_sort);
    const auto found =
        tune(context, entry.threads, quick ? TuneLength::Quick : TuneLength::Whole, [this](const TuneCase& one) {
            if (!json) print_case(one);
        });
    entry.sort = found.sort;
    entry.query = found.query;
    entry.statements = found.statements;
    entry.statements.start_ms += open_ms;
    const auto replaced = write_tuning(entry);
    if (replaced == Replaced::DamagedFile)
        fmt::print(stderr, "quadmill tune: the old file could not be read; it is replaced\n");
    const auto path = tuning_path()->string();
    if (!json) {
        print_entry(entry);
        fmt::print("\nwrote {}\n", path);
        return;
    }
    auto out = to_json(entry);
    out["file"] = path;
    out["cases"] = nlohmann::ordered_json::array();
    for (const auto& one : found.cases) {
        auto points = nlohmann::ordered_json::array();
        for (const auto& point : one.points) {
            points.push_back({{"n", point.n}, {"cpu_ms", point.cpu_ms}, {"gpu_ms", point.gpu_ms}});
            if (point.hybrid_ms) points.back()["hybrid_ms"] = *point.hybrid_ms;
        }
        out["cases"].push_back({{"what", one.what}, {"points", points}});
    }
    fmt::print("{}\n", out.dump());
}

}  // namespace

void add_tune_command(CLI::App& app) {
    auto command = std::make_shared<TuneCommand>();
    auto* verb = app.add_subcommand(
        "tune", "Measure the crossovers between CPU and GPU on this machine, which `--engine auto` then uses");
    verb->add_flag("--quick", command->quick, "Faster but less exact: less than a minute instead of one to two");
    verb->add_option("--threads", command->threads,
                     "CPU threads (default: all); the result is used by calls with the same number")
        ->check(input::thread_count());
    verb->add_flag("--json", command->json, "One JSON object on standard output");
    add_device_option(*verb, command->device);
    verb->footer(
        "A crossover is the smallest size at which the GPU is faster. The results go to "
        "$XDG_CONFIG_HOME/quadmill/tune.json (default: ~/.config/quadmill/tune.json), one entry per device, driver and "
        "number of threads. Run it on an idle machine. Run it again after an update of the driver.\n"
        "\n"
        "Examples:\n"
        "  quadmill tune\n"
        "  quadmill tune --quick --json");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
