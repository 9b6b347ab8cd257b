#include <fmt/chrono.h>
#include <fmt/core.h>

#include <ctime>
#include <fstream>
#include <span>
#include <thread>

#include "cli/bench_report.hpp"
#include "cli/build_facts.hpp"
#include "cli/commands.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"
#include "quadmill/version.hpp"

namespace quadmill::detail::cli {

CLI::Validator count_of_keys() {
    constexpr auto max = std::uint64_t{1} << 32U;
    return input::count_up_to(max);
}

namespace {

std::string cpu_model() {
    std::ifstream facts("/proc/cpuinfo");
    for (std::string line; std::getline(facts, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

}  // namespace

void BenchRun::add_to(CLI::App& verb, const std::string& rivals) {
    verb.add_flag("--rivals", with_rivals, rivals);
    add_report_options(verb);
    add_device_option(verb, device);
    add_api_option(verb, api);
}

void BenchRun::add_report_options(CLI::App& verb) {
    verb.add_option("--repeat", repeat, "Number of measurements; the median counts")
        ->check(input::shown_number(1, 1000))
        ->capture_default_str();
    verb.add_flag("--json", json, "One JSON object on standard output");
}

void BenchOptions::add_to(CLI::App& verb) {
    verb.add_option("--types", types, "Types of the keys")
        ->delimiter(',')
        ->transform(input::one_of(input::type_words))
        ->default_str("f32");
    verb.add_option("--dist", distributions, "Distributions of the keys")
        ->delimiter(',')
        ->transform(input::one_of(input::distribution_words))
        ->default_str("uniform");
    BenchRun::add_to(verb, "Also measure other libraries' sorts on the CPU");
}

std::vector<const bench::Rival*> BenchOptions::rivals(const std::string& verb) const {
    note_missing(verb, missing_rivals());
    std::vector<const bench::Rival*> built;
    for (const auto& rival : bench::rivals()) {
        if (with_rivals && rival.sort) built.push_back(&rival);
    }
    return built;
}

std::vector<MissingRival> BenchOptions::missing_rivals() {
    std::vector<MissingRival> missing;
    for (const auto& rival : bench::rivals()) {
        if (!rival.sort) missing.push_back({rival.name, rival.package});
    }
    return missing;
}

void BenchRun::note_missing(const std::string& verb, const std::vector<MissingRival>& missing) const {
    for (const auto& rival : missing) {
        if (!with_rivals) break;
        fmt::print(stderr, "quadmill bench {}: without {}, which needs {}: install it and build quadmill again\n", verb,
                   rival.name, rival.package);
    }
}

BenchRun::Opened BenchRun::open_context() const {
    try {
        return {Context::headless({.api = api, .device = device}), {}};
    } catch (const ContextError& error) {
        return {{}, error.what()};
    }
}

Json BenchRun::facts(const std::optional<Context>& context, const std::vector<MissingRival>& missing) const {
    Json facts{{"quadmill", QUADMILL_VERSION},
               {"commit", commit},
               {"command", command_line},
               {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
               {"renderer", context ? context->info().renderer : "none"},
               {"api", context ? name_of(context->info().api) : "none"},
               {"cpu", cpu_model()},
               {"threads", std::thread::hardware_concurrency()},
               {"repeat", repeat},
               {"rivals_missing", Json::array()}};
    for (const auto& rival : missing) {
        if (with_rivals) facts["rivals_missing"].push_back({{"name", rival.name}, {"package", rival.package}});
    }
    return facts;
}

void BenchRun::print_facts(const std::optional<Context>& context, const std::string& how) const {
    const auto times = repeat == 1 ? "each run once" : fmt::format("median of {} (lowest .. highest)", repeat);
    fmt::print("quadmill {} on {}; {}, {} threads; {}, {}\n", QUADMILL_VERSION,
               context ? fmt::format("{} ({})", context->info().renderer, name_of(context->info().api)) : "no GPU",
               cpu_model(), std::thread::hardware_concurrency(), times, how);
}

Json limits_json(const std::vector<bench::Limit>& limits) {
    auto out = Json::array();
    for (const auto& limit : limits)
        out.push_back({{"name", limit.name}, {"value", limit.value}, {"unit", limit.unit}});
    return out;
}

void print_limits(const std::vector<bench::Limit>& limits) {
    for (const auto& limit : limits) fmt::print("{:<34} {:>8.3f} {}\n", limit.name, limit.value, limit.unit);
}

Json or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

std::unique_ptr<files::OutputFile> open_plot(const std::string& path) {
    return path.empty() ? nullptr : std::make_unique<files::OutputFile>(path);
}

void write_plot(files::OutputFile& file, const std::vector<bench::Panel>& panels) {
    const auto svg = bench::plot(panels);
    file.write(std::as_bytes(std::span(svg)));
    file.commit();
}

void add_bench_command(CLI::App& app, const std::string& command_line) {
    auto* bench = app.add_subcommand("bench", "Measure the engines, and other libraries");
    bench->require_subcommand(1);
    add_bench_csv_command(*bench, command_line);
    add_bench_devices_command(*bench, command_line);
    add_bench_external_command(*bench, command_line);
    add_bench_figures_command(*bench, command_line);
    add_bench_guest_command(*bench, command_line);
    add_bench_index_command(*bench, command_line);
    add_bench_join_command(*bench, command_line);
    add_bench_linalg_command(*bench, command_line);
    add_bench_picture_command(*bench, command_line);
    add_bench_query_command(*bench, command_line);
    add_bench_sketch_command(*bench, command_line);
    add_bench_sort_command(*bench, command_line);
    add_bench_stream_command(*bench, command_line);
    bench->footer("`quadmill bench VERB --help` has examples.");
}

}  // namespace quadmill::detail::cli
