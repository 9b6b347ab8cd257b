#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "bench/external_bench.hpp"
#include "bench/line_files.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "files/files.hpp"
#include "files/temporary_file.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

constexpr std::size_t block = std::size_t{1} << 20U;  // bytes of a run that phase 2 reads at a time

struct BenchExternal : BenchRun {
    std::vector<std::size_t> records, lines, pairs, merges;
    std::size_t runs = 16;
    std::vector<Engine> engines{Engine::Auto};
    std::string memory = "64M", folder = files::temporary_folder(), plot_file;

    void run();

  private:
    [[nodiscard]] bool run_lines(Json& report) const;
    [[nodiscard]] std::vector<FileContender> programs() const;
    void print(const FileCaseResult& found, const std::string& what = "ASCII records") const;
    void print(const PairCaseResult& found) const;
    void print(const MergeCaseResult& found) const;
    [[nodiscard]] Json to_json(const FileCaseResult& found) const;
    [[nodiscard]] Json to_json(const PairCaseResult& found) const;
    [[nodiscard]] Json to_json(const MergeCaseResult& found) const;
    [[nodiscard]] static bench::Panel transfers(const std::vector<PairCaseResult>& all);
    [[nodiscard]] static bench::Panel stages(const std::vector<FileCaseResult>& all);
};

// The report of `quadmill terasort --json`; none if another program ran.
Json report_of(const FileResult& result) {
    if (result.contender->is_rival() || result.output.empty()) return nullptr;
    return Json::parse(result.output, nullptr, false);
}

double megabytes_per_s(std::uint64_t bytes, const FileResult& result) {
    return static_cast<double>(bytes) / result.ms * 1e-3;
}

std::string column_word(LineColumn column) {
    return column == LineColumn::Number ? "number" : "text";
}

std::vector<FileContender> BenchExternal::programs() const {
    std::vector<FileContender> all;
    for (const auto engine : engines) {
        const auto& word = input::word_for(input::engine_words, engine);
        all.push_back(terasort_program("terasort, " + word, word, memory, device));
    }
    if (with_rivals) all.insert(all.end(), {gnu_sort(memory), cp_program()});
    return all;
}

// For each stage, the seconds that it worked, and the fraction hidden behind the slowest stage (figure 11). Then each
// phase's time divided by that of its slowest stage.
void print_stages(const Json& report) {
    if (!report.is_object() || !report.contains("stages")) return;
    double slowest[2] = {0, 0};
    for (const auto& [name, stage] : report["stages"].items()) {
        const auto seconds = stage.value("seconds", 0.0);
        fmt::print("    {:<14} {:>9.3f} s {:>4.0f} % hidden\n", name, seconds, 100 * stage.value("hidden", 0.0));
        auto& phase = slowest[name.starts_with("merge") ? 1 : 0];
        phase = std::max(phase, seconds);
    }
    const auto print_phase = [&](const char* name, double seconds, double stage) {
        if (stage > 0)
            fmt::print("    {:<14} {:>9.3f} s, {:.2f} x its slowest stage\n", name, seconds, seconds / stage);
    };
    print_phase("phase 1", report.value("runs_seconds", 0.0), slowest[0]);
    print_phase("phase 2", report.value("merge_seconds", 0.0), slowest[1]);
}

void BenchExternal::print(const FileCaseResult& found, const std::string& what) const {
    const RivalColumns columns(found.results);
    fmt::print("\n{} {}, {:.1f} MB, with {} of memory, in {}\n{:<20} {:>9} {:>20} {:>9} {:>10}", found.records, what,
               static_cast<double>(found.bytes) * 1e-6, memory, folder, "", "s", "(lowest .. highest)", "MB/s",
               "peak MB");
    columns.end_head();
    for (const auto& result : found.results) {
        if (!result.ran()) {
            fmt::print("{:<20} {:>9}  {}\n", result.contender->name, "n/a", result.refusal);
            continue;
        }
        const auto report = report_of(result);
        const auto peak = report.is_object() ? report.value("peak_bytes", 0.0) : 0.0;
        fmt::print("{:<20} {:>9.3f} {:>20} {:>9.1f} {:>10}", result.contender->name, result.ms * 1e-3,
                   fmt::format("({:.3f} .. {:.3f})", result.low_ms * 1e-3, result.high_ms * 1e-3),
                   megabytes_per_s(found.bytes, result), peak > 0 ? fmt::format("{:.1f}", peak * 1e-6) : "");
        columns.end_line(result);
        print_stages(report);
    }
    print_losses(found.results);
}

void BenchExternal::print(const PairCaseResult& found) const {
    const RivalColumns columns(found.results);
    fmt::print("\n{} pairs of a 32-bit float and a pointer\n{:<24} {:>10} {:>22} {:>9} {:>8} {:>9} {:>9} {:>9} {:>10}",
               found.n, "", "ms", "(lowest .. highest)", "Mpairs/s", "passes", "upload", "sort", "read back",
               "transfer");
    columns.end_head();
    for (const auto& result : found.results) {
        if (!result.ran()) {
            fmt::print("{:<24} {:>10}  {}\n", result.contender->name, "n/a", result.refusal);
            continue;
        }
        const auto& parts = result.parts;
        fmt::print("{:<24} {:>10.3f} {:>22} {:>9.2f}", result.contender->name, result.ms, spread_words(result),
                   per_s(found.n, result) * 1e-6);
        if (parts.passes > 0) {
            fmt::print(" {:>8} {:>9.3f} {:>9.3f} {:>9.3f} {:>8.1f} %", parts.passes, parts.upload_ms, parts.sort_ms,
                       parts.readback_ms, result.transfer_percent());
        } else {
            fmt::print(" {:>49}", "");
        }
        columns.end_line(result);
    }
}

void BenchExternal::print(const MergeCaseResult& found) const {
    const RivalColumns columns(found.results);
    fmt::print("\n{} records in {} runs, merged into memory\n{:<16} {:>10} {:>22} {:>9} {:>8} {:>9} {:>9} {:>9} {:>12}",
               found.which.records, found.which.runs, "", "ms", "(lowest .. highest)", "MB/s", "merges", "keys",
               "merge", "scan", "again");
    columns.end_head();
    for (const auto& result : found.results) {
        if (!result.ran()) {
            fmt::print("{:<16} {:>10}  {}\n", result.contender->name, "n/a", result.refusal);
            continue;
        }
        const auto& parts = result.parts;
        fmt::print("{:<16} {:>10.3f} {:>22} {:>9.1f}", result.contender->name, result.ms, spread_words(result),
                   per_s(found.which.records * record_bytes, result) * 1e-6);
        if (parts.merges > 0) {
            fmt::print(" {:>8} {:>9.3f} {:>9.3f} {:>9.3f} {:>10.1f} %", parts.merges, parts.key_ms, parts.merge_ms,
                       parts.scan_ms,
                       100 * static_cast<double>(parts.keys - parts.given) / static_cast<double>(parts.given));
        } else {
            fmt::print(" {:>51}", "");
        }
        columns.end_line(result);
    }
}

Json BenchExternal::to_json(const FileCaseResult& found) const {
    Json out{{"records", found.records}, {"bytes", found.bytes}, {"contenders", Json::array()}};
    for (const auto& result : found.results) {
        auto one = contender_json(result);
        if (result.ran()) {
            one["megabytes_per_s"] = megabytes_per_s(found.bytes, result);
            one["times_faster_than"] = times_faster_than(found.results, result);
            if (const auto report = report_of(result); report.is_object()) one["report"] = report;
        }
        out["contenders"].push_back(std::move(one));
    }
    return out;
}

Json BenchExternal::to_json(const PairCaseResult& found) const {
    Json out{{"n", found.n}, {"contenders", Json::array()}};
    for (const auto& result : found.results) {
        auto one = contender_json(result);
        if (result.ran()) {
            one.update(Json{{"pointers", result.contender->sorted == Sorted::Pairs},
                            {"pairs_per_s", per_s(found.n, result)},
                            {"passes", result.parts.passes},
                            {"upload_ms", result.parts.upload_ms},
                            {"sort_ms", result.parts.sort_ms},
                            {"readback_ms", result.parts.readback_ms},
                            {"transfer_percent", result.transfer_percent()},
                            {"times_faster_than", times_faster_than(found.results, result)}});
        }
        out["contenders"].push_back(std::move(one));
    }
    return out;
}

Json BenchExternal::to_json(const MergeCaseResult& found) const {
    Json out{{"records", found.which.records},
             {"runs", found.which.runs},
             {"block_bytes", found.which.block},
             {"contenders", Json::array()}};
    for (const auto& result : found.results) {
        auto one = contender_json(result);
        if (result.ran()) {
            one["records_per_s"] = per_s(found.which.records, result);
            if (result.parts.merges > 0)
                one.update(Json{{"merges", result.parts.merges},
                                {"keys", result.parts.keys},
                                {"key_ms", result.parts.key_ms},
                                {"merge_ms", result.parts.merge_ms},
                                {"scan_ms", result.parts.scan_ms}});
            one["times_faster_than"] = times_faster_than(found.results, result);
        }
        out["contenders"].push_back(std::move(one));
    }
    return out;
}

// Figure 9: the time of GPUTeraSort's own form, and its share of transfers.
bench::Panel BenchExternal::transfers(const std::vector<PairCaseResult>& all) {
    using bench::Line;
    bench::Panel panel{std::string(paper_form) + ": all of it, and transfers", "pairs", "milliseconds", {}};
    panel.series = {{"all", Line::Solid, {}}, {"upload", Line::Dashed, {}}, {"read back", Line::Dashed, {}}};
    for (const auto& found : all) {
        const auto& result =
            *std::ranges::find(found.results, paper_form, [](const PairResult& one) { return one.contender->name; });
        const auto x = static_cast<double>(found.n);
        if (!result.ran() || result.parts.upload_ms <= 0 || result.parts.readback_ms <= 0) continue;
        panel.series[0].points.emplace_back(x, result.ms);
        panel.series[1].points.emplace_back(x, result.parts.upload_ms);
        panel.series[2].points.emplace_back(x, result.parts.readback_ms);
    }
    return panel;
}

// Figure 11, for the first contender, which is terasort.
bench::Panel BenchExternal::stages(const std::vector<FileCaseResult>& all) {
    using bench::Line;
    bench::Panel panel{
        all.front().results.front().contender->name + ": seconds of each stage", "records", "seconds at work", {}};
    for (const auto& found : all) {
        const auto report = report_of(found.results.front());
        if (!report.is_object() || !report.contains("stages")) continue;
        for (const auto& [name, stage] : report["stages"].items()) {
            const auto seconds = stage.value("seconds", 0.0);
            if (seconds <= 0) continue;
            auto series = std::ranges::find(panel.series, name, &bench::Series::name);
            if (series == panel.series.end()) {
                const auto line = name.starts_with("merge") ? Line::Dashed : Line::Solid;
                series = panel.series.insert(panel.series.end(), {name, line, {}});
            }
            series->points.emplace_back(static_cast<double>(found.records), seconds);
        }
    }
    return panel;
}

// Returns whether all results were right.
bool BenchExternal::run_lines(Json& report) const {
    bool right = true;
    for (const auto count : lines) {
        for (const auto column : {LineColumn::Number, LineColumn::Text}) {
            const BenchFolder own(folder);
            std::vector<FileContender> sorts{line_sort_program(memory, column)};
            if (with_rivals)
                sorts.insert(sorts.end(),
                             {gnu_line_sort(memory, column), duckdb_program(memory, column), cp_program()});
            const auto found = run_line_files(own, sorts, {count, column}, repeat);
            for (const auto& result : found.results) right = right && result.verified;
            if (!json)
                print(found,
                      "lines by a column of " + (column == LineColumn::Number ? std::string("numbers") : "text"));
            auto one = to_json(found);
            one["column"] = column_word(column);
            report["lines"].push_back(std::move(one));
        }
    }
    return right;
}

void BenchExternal::run() {
    const auto plot_to = open_plot(plot_file);
    if (records.empty() && lines.empty() && pairs.empty() && merges.empty()) {
        records = merges = {std::size_t{1} << 20U};
        pairs = {std::size_t{1} << 14U, std::size_t{1} << 16U, std::size_t{1} << 18U};
    }
    for (auto* counts : {&records, &lines, &pairs, &merges}) std::ranges::sort(*counts);
    const auto [context, why_not] = open_context();
    if (!json) print_facts(context, "x NAME: its time over this one");
    auto report = facts(context, {});
    report.update(Json{{"memory", memory},
                       {"folder", folder},
                       {"files", Json::array()},
                       {"lines", Json::array()},
                       {"pairs", Json::array()},
                       {"merges", Json::array()}});
    RatePlot plot("records");
    bool right = run_lines(report);
    const auto take = [&](const char* list, const std::string& title, std::size_t n, const auto& found) {
        for (const auto& result : found.results) right = right && result.verified;
        if (!json) print(found);
        report[list].push_back(to_json(found));
        plot.add(title, n, found.results);
    };
    const auto files = programs();
    std::vector<FileCaseResult> all_files;
    for (const auto count : records) {
        const BenchFolder own(folder);
        take("files", "files of ASCII records, " + memory + " of memory", count,
             all_files.emplace_back(run_files(own, files, count, repeat)));
    }
    if (!records.empty()) plot.add(stages(all_files));
    const auto sorts = pair_contenders();
    std::vector<PairCaseResult> all_pairs;
    for (const auto n : pairs) {
        take("pairs", "pairs of a 32-bit float and a pointer", n,
             all_pairs.emplace_back(run_pairs(context, why_not, sorts, n, repeat)));
    }
    if (!pairs.empty()) plot.add(transfers(all_pairs));
    const auto mergers = merge_contenders();
    for (const auto count : merges) {
        take("merges", fmt::format("phase 2 of {} runs", runs), count,
             run_merges(folder, context, why_not, mergers, {count, runs, block}, repeat));
    }
    if (json) fmt::print("{}\n", report.dump());
    if (plot_to) plot.write(*plot_to);
    if (!right) throw Error("bench external: a result was wrong; see above");
}

}  // namespace

void add_bench_external_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchExternal>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand(
        "external",
        "Time terasort on files of ASCII records, the sorts of pairs of keys and pointers in it, and its merge");
    verb->add_option("--records", work->records,
                     "Records of the files, such as 2^20 or 20000000, comma-separated (default: 2^20). Of --records, "
                     "--lines, --pairs and --merges only those that are given are measured")
        ->delimiter(',')
        ->transform(count_of_keys())
        ->type_name("N,...");
    verb->add_option("--lines", work->lines,
                     "Lines of CSV, about 50 bytes each, comma-separated: `quadmill sort` by a column of numbers (-t, "
                     "-k2,2n) and by one of text (-t, -k3,3)")
        ->delimiter(',')
        ->transform(count_of_keys())
        ->type_name("N,...");
    verb->add_option("--pairs", work->pairs, "Numbers of pairs in memory, comma-separated (default: 2^14,2^16,2^18)")
        ->delimiter(',')
        ->transform(count_of_keys())
        ->type_name("N,...");
    verb->add_option("--merges", work->merges,
                     "Records that phase 2 merges by the tree of losers and by the merge engine, comma-separated "
                     "(default: 2^20)")
        ->delimiter(',')
        ->transform(count_of_keys())
        ->type_name("N,...");
    verb->add_option("--runs", work->runs, "Runs of --merges")
        ->check(input::shown_number(1, 4096))
        ->capture_default_str();
    verb->add_option("--memory", work->memory, "Memory of terasort and GNU sort, such as 256M")
        ->capture_default_str()
        ->type_name("SIZE");
    verb->add_option("--folder", work->folder,
                     "Folder for the files; a subfolder of it is used, and removed at the end")
        ->check(CLI::ExistingDirectory)
        ->capture_default_str()
        ->type_name("DIR");
    verb->add_option("--engines", work->engines, "Engines of terasort")
        ->delimiter(',')
        ->transform(input::one_of(input::engine_words))
        ->default_str("auto");
    work->add_to(
        *verb,
        "Also measure on files, with the same memory: GNU sort on all threads, cp, and for --lines DuckDB, if node "
        "finds the package @duckdb/node-api (NODE_PATH)");
    verb->add_option("--plot", work->plot_file, "Draw records and pairs a second and the stages, as SVG")
        ->type_name("FILE.svg");
    verb->footer(
        "Each program begins with an input that is not in the system's cache, and ends when its output is on the "
        "disk.\n\n"
        "Examples:\n"
        "  quadmill bench external --records 2^20,2^22 --memory 64M --rivals\n"
        "  quadmill bench external --lines 10000000 --memory 256M --rivals\n"
        "  quadmill bench external --pairs 2^16,2^18,2^20 --plot pairs.svg");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
