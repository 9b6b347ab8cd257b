#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "bench/index_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

struct BenchIndex : BenchRun {
    std::vector<std::size_t> n{std::size_t{1} << 22U};
    std::vector<double> selected{0.01, 0.1, 1, 10};  // percent
    unsigned threads = 0;
    bool with_parts = false;

    void run();

  private:
    void print(std::size_t rows, const IndexOfColumns& found) const;
    [[nodiscard]] static Json to_json(std::size_t rows, const IndexOfColumns& found);
};

void BenchIndex::print(std::size_t rows, const IndexOfColumns& found) const {
    fmt::print(
        "\nindex of {} of {} rows: built in {:.1f} ms ({:.1f} .. {:.1f}), {:.2f} bytes a row and {:.2f} of the "
        "CPU's memory{}\n",
        found.columns, rows, found.build_ms, found.build_low_ms, found.build_high_ms,
        static_cast<double>(found.bytes) / static_cast<double>(rows),
        static_cast<double>(found.cpu_bytes) / static_cast<double>(rows),
        found.sort_ms > 0 ? fmt::format("; a sorted copy in {:.1f} ms", found.sort_ms) : "");
    if (with_parts) {
        for (const auto& part : found.build)
            fmt::print("  {:<24} {:>10.3f} ms {:>6} passes\n", part.name, part.gpu_ms, part.passes);
    }
    fmt::print("{:>9} {:>10} {:<18} {:>10} {:>10} {:>22} {:>7} {:>9}\n", "selected", "tested", "", "GPU ms", "ms",
               "(lowest .. highest)", "passes", "x index");
    for (const auto& one : found.cases) {
        for (const auto& times : one.times) {
            fmt::print("{:>8.4g}% {:>10.0f} {:<18} {:>10} {:>10.4f} {:>22} {:>7} {:>9.3g}{}\n", 100 * one.selected,
                       one.tested, times.name, times.gpu_ms ? fmt::format("{:.4f}", *times.gpu_ms) : "", times.ms,
                       spread_words(times), times.passes, times.ms / one.times.front().ms,
                       times.verified ? "" : "  WRONG RESULT");
        }
    }
}

Json BenchIndex::to_json(std::size_t rows, const IndexOfColumns& found) {
    Json out{{"n", rows},
             {"columns", found.columns},
             {"build_ms", found.build_ms},
             {"build_low_ms", found.build_low_ms},
             {"build_high_ms", found.build_high_ms},
             {"bytes", found.bytes},
             {"cpu_bytes", found.cpu_bytes},
             {"cases", Json::array()}};
    if (found.sort_ms > 0) out["sorted_copy_ms"] = found.sort_ms;
    for (const auto& one : found.cases) {
        Json each{{"selected", one.selected}, {"tested", one.tested}, {"contenders", Json::array()}};
        for (const auto& times : one.times) {
            each["contenders"].push_back({{"name", times.name},
                                          {"ms", times.ms},
                                          {"low_ms", times.low_ms},
                                          {"high_ms", times.high_ms},
                                          {"gpu_ms", or_null(times.gpu_ms)},
                                          {"passes", times.passes},
                                          {"verified", times.verified}});
        }
        out["cases"].push_back(std::move(each));
    }
    return out;
}

void BenchIndex::run() {
    auto [context, why_not] = open_context();
    if (!context) throw ContextError(why_not);
    auto report = facts(context, {});
    if (!json) print_facts(context, "columns loaded, until the answer is on the CPU");
    report["indexes"] = Json::array();
    IndexBenchOptions options{.repeat = repeat, .threads = threads};
    for (const auto percent : selected) options.selected.push_back(percent / 100);
    bool right = true;
    for (const auto rows : n) {
        options.n = rows;
        for (const auto& found : measure_index(*context, options)) {
            for (const auto& one : found.cases) right = right && std::ranges::all_of(one.times, &IndexTimes::verified);
            if (!json) print(rows, found);
            report["indexes"].push_back(to_json(rows, found));
        }
    }
    if (json) fmt::print("{}\n", report.dump());
    if (!right) throw Error("bench index: a count was wrong; see above");
}

}  // namespace

void add_bench_index_command(CLI::App& bench, const std::string& command_line) {
    constexpr auto max_rows = std::uint64_t{1} << 28U;
    constexpr unsigned max_threads = 1024;
    auto work = std::make_shared<BenchIndex>();
    work->command_line = command_line;
    work->repeat = 15;
    auto* verb = bench.add_subcommand("index", "Time counts of rectangles with an index, and by reading the columns");
    verb->add_option("--n", work->n, "Numbers of rows, such as 1000 or 2^20, comma-separated")
        ->delimiter(',')
        ->transform(input::count_up_to(max_rows))
        ->type_name("N,...")
        ->default_str("2^22");
    verb->add_option("--selected", work->selected, "Percentages of the rows in a rectangle, comma-separated")
        ->delimiter(',')
        ->check(CLI::Range(1e-6, 100.0))
        ->type_name("PERCENT,...")
        ->default_str("0.01,0.1,1,10");
    verb->add_option("--threads", work->threads, "Threads of the CPU (default: all)")
        ->check(input::shown_number(1, max_threads));
    verb->add_flag("--parts", work->with_parts, "Also the time of each kind of pass that builds the index");
    work->add_report_options(*verb);
    verb->footer(
        "Columns are those of `quadmill bench query`: an index of b, of a and b, and of a and c. --repeat is the "
        "number of "
        "rectangles of each size, at random positions. tested: rows that the index compares.\n\n"
        "Examples:\n"
        "  quadmill bench index --n 2^20 --repeat 15\n"
        "  quadmill bench index --n 2^22,2^24,2^26 --selected 0.01,0.1,1,10 --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
