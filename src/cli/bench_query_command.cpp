#include <fmt/core.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bench/query_bench.hpp"
#include "bench/sqlite_rival.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

const input::Words<QueryBy> engine_words_of_queries{
    {"depth", QueryBy::Depth}, {"bitmap", QueryBy::Bitmap}, {"cpu", QueryBy::Cpu}};
const input::Words<QueryBy> rival_names{{"scan", QueryBy::Scan},
                                        {"scan, all threads", QueryBy::ScanAllThreads},
                                        {"std::nth_element", QueryBy::NthElement},
                                        {"sqlite", QueryBy::Sqlite}};
const input::Words<QueryKind> kind_words{{"copy", QueryKind::Copy},       {"predicate", QueryKind::Predicate},
                                         {"range", QueryKind::Range},     {"pair", QueryKind::Pair},
                                         {"extreme", QueryKind::Extreme}, {"cnf", QueryKind::Cnf},
                                         {"linear", QueryKind::Linear},   {"in", QueryKind::In},
                                         {"nulls", QueryKind::Nulls},     {"sum", QueryKind::Sum},
                                         {"median", QueryKind::Median},   {"kth", QueryKind::Kth},
                                         {"groups", QueryKind::Groups}};

struct BenchQuery : BenchRun {
    std::vector<std::size_t> n{std::size_t{1} << 20U, std::size_t{1} << 22U};
    std::vector<QueryKind> kinds;
    std::vector<QueryBy> engines;
    QueryBenchOptions options;
    std::string plot_file;

    void run();

  private:
    [[nodiscard]] std::vector<QueryContender> contenders() const;
    [[nodiscard]] static std::vector<MissingRival> missing_rivals();
    [[nodiscard]] static std::string title(const QueryCase& which);
    static void print_case(const QueryCaseResult& found);
    static void print_loads(std::size_t n, const std::vector<LoadTime>& loads);
    static void explain_limit(const std::optional<Limit>& limit);
    [[nodiscard]] static Json to_json(const QueryCaseResult& found);
    [[nodiscard]] static Json to_json(const QueryCaseResult& found, const QueryTimes& result);
    [[nodiscard]] static Json to_json(std::size_t n, const LoadTime& load);
    [[nodiscard]] Json head(const QueryBench& bench, const std::optional<Context>& context) const;
};

std::vector<QueryContender> BenchQuery::contenders() const {
    std::vector<QueryContender> all;
    for (const auto& [word, engine] : engine_words_of_queries) {
        if (engines.empty() || std::ranges::find(engines, engine) != engines.end()) all.push_back({word, engine});
    }
    for (const auto& [name, rival] : rival_names) {
        if (with_rivals && (rival != QueryBy::Sqlite || has_sqlite())) all.push_back({name, rival});
    }
    return all;
}

std::vector<MissingRival> BenchQuery::missing_rivals() {
    if (has_sqlite()) return {};
    return {{"sqlite", sqlite_package}};
}

std::string BenchQuery::title(const QueryCase& which) {
    return input::word_for(kind_words, which.kind) + ": " + which.name;
}

void BenchQuery::print_case(const QueryCaseResult& found) {
    const RivalColumns columns(found.results);
    fmt::print("\n{}, {} rows\n{:<18} {:>10} {:>22} {:>10} {:>10} {:>12}", title(found.which), found.n, "", "ms",
               "(lowest .. highest)", "Mrows/s", "% of limit", "passes' time");
    columns.end_head();
    std::map<std::string, std::string> left_out;  // by reason
    for (const auto& result : found.results) {
        if (!result.ran()) {
            auto& names = left_out[result.refusal];
            names += (names.empty() ? "" : ", ") + result.contender->name;
            continue;
        }
        const auto percent = result.percent_of_limit();
        fmt::print("{:<18} {:>10.3f} {:>22} {:>10.1f} {:>10} {:>12}", result.contender->name, result.ms,
                   spread_words(result), per_s(found.n, result) * 1e-6,
                   percent ? fmt::format("{:.0f} %", *percent) : "",
                   result.passes_time ? fmt::format("{:.2f}", *result.passes_time) : "");
        columns.end_line(result);
        if (const auto goal = found.which.goal_passes; goal && result.passes_time && *result.passes_time > *goal)
            fmt::print("{:<18} misses its goal, {:.3g} passes' time\n", "", *goal);
    }
    for (const auto& [reason, names] : left_out) fmt::print("without {}: {}\n", names, reason);
    print_losses(found.results);
}

void BenchQuery::print_loads(std::size_t n, const std::vector<LoadTime>& loads) {
    if (loads.empty()) return;
    fmt::print("\nloaded before: columns of {} rows\n{:<18} {:>8} {:>10} {:>22} {:>9}\n", n, "", "columns", "ms",
               "(lowest .. highest)", "GB/s");
    for (const auto& load : loads) {
        fmt::print("{:<18} {:>8} {:>10.3f} {:>22} {:>9.3f}\n", load.contender->name, load.columns, load.ms,
                   spread_words(load), static_cast<double>(load.bytes) * 1e-6 / load.ms);
    }
}

void BenchQuery::explain_limit(const std::optional<Limit>& limit) {
    if (!limit) return;
    fmt::print(
        "\n% of limit: the time that depth and stencil tests of these pixels would take at the rate below, in percent "
        "of the"
        "\n            whole time. passes' time: the whole time divided by that of one such pass over all rows.\n");
    print_limits({*limit});
}

Json BenchQuery::to_json(const QueryCaseResult& found, const QueryTimes& result) {
    Json out = contender_json(result, "rows_per_s", found.n);
    if (!result.ran()) return out;
    if (result.pixels) {
        out.update(Json{{"pixels_tested", *result.pixels},
                        {"least_ms", or_null(result.min_ms)},
                        {"percent_of_limit", or_null(result.percent_of_limit())},
                        {"depth_passes_time", or_null(result.passes_time)}});
        const auto goal = found.which.goal_passes;
        if (goal && result.passes_time) out["meets_goal"] = *result.passes_time <= *goal;
    }
    out["times_faster_than"] = times_faster_than(found.results, result);
    return out;
}

Json BenchQuery::to_json(const QueryCaseResult& found) {
    Json out{{"query", input::word_for(kind_words, found.which.kind)},
             {"name", found.which.name},
             {"n", found.n},
             {"goal_depth_passes", or_null(found.which.goal_passes)},
             {"contenders", Json::array()}};
    if (found.which.ask == QueryCase::Ask::Kth) out["rank"] = found.which.k + 1;
    for (const auto& result : found.results) out["contenders"].push_back(to_json(found, result));
    return out;
}

Json BenchQuery::to_json(std::size_t n, const LoadTime& load) {
    return {{"name", load.contender->name}, {"n", n},        {"columns", load.columns},
            {"bytes", load.bytes},          {"ms", load.ms}, {"low_ms", load.low_ms},
            {"high_ms", load.high_ms}};
}

Json BenchQuery::head(const QueryBench& bench, const std::optional<Context>& context) const {
    auto out = facts(context, missing_rivals());
    out.update(Json{{"threads_used", options.threads == 0 ? out["threads"] : Json(options.threads)},
                    {"scan", scan_instructions()},
                    {"sqlite_rows", options.sqlite_rows},
                    {"limits", bench.depth_limit() ? limits_json({*bench.depth_limit()}) : Json::array()},
                    {"loads", Json::array()},
                    {"cases", Json::array()}});
    return out;
}

void BenchQuery::run() {
    const auto plot_to = open_plot(plot_file);
    std::ranges::sort(n);
    if (kinds.empty()) {
        for (const auto& [word, kind] : kind_words) kinds.push_back(kind);
    }
    options.repeat = repeat;
    note_missing("query", missing_rivals());
    auto [context, why_not] = open_context();
    if (!json) print_facts(context, "columns loaded, until the answer is on the CPU; x NAME: its time over this one");
    QueryBench bench(context, std::move(why_not), contenders(), options);
    auto report = head(bench, context);
    RatePlot plot("rows");
    bool right = true;
    for (const auto rows : n) {
        const auto loads = bench.run(rows, kinds, [&](const QueryCaseResult& found) {
            right = right && std::ranges::all_of(found.results, &QueryTimes::verified);
            plot.add(title(found.which), found.n, found.results);
            if (!json) print_case(found);
            report["cases"].push_back(to_json(found));
        });
        if (!json) print_loads(rows, loads);
        for (const auto& load : loads) report["loads"].push_back(to_json(rows, load));
    }
    if (json) {
        fmt::print("{}\n", report.dump());
    } else {
        explain_limit(bench.depth_limit());
    }
    if (plot_to) plot.write(*plot_to);
    if (!right) throw Error("bench query: an answer was wrong; see above");
}

}  // namespace

void add_bench_query_command(CLI::App& bench, const std::string& command_line) {
    constexpr auto max_rows = std::uint64_t{1} << 28U;
    constexpr unsigned max_threads = 1024;
    auto work = std::make_shared<BenchQuery>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand("query", "Time queries on columns, by the query engines in turn");
    verb->add_option("--n", work->n, "Numbers of rows, such as 1000 or 2^20, comma-separated")
        ->delimiter(',')
        ->transform(input::count_up_to(max_rows))
        ->type_name("N,...")
        ->default_str("2^20,2^22");
    verb->add_option("--queries", work->kinds, "Kinds of queries (default: all)")
        ->delimiter(',')
        ->transform(input::one_of(kind_words));
    verb->add_option("--engines", work->engines, "Engines (default: all)")
        ->delimiter(',')
        ->transform(input::one_of(engine_words_of_queries));
    work->add_to(*verb,
                 "Also measure loops over the columns on one thread and on all, std::nth_element and SQLite in memory");
    verb->add_option("--sqlite-rows", work->options.sqlite_rows, "Max number of rows for SQLite")
        ->transform(input::count_up_to(max_rows))
        ->default_str("2^22");
    verb->add_option("--threads", work->options.threads, "Threads of the CPU (default: all)")
        ->check(input::shown_number(1, max_threads));
    verb->add_option("--plot", work->plot_file, "Draw rows per second against n, as SVG")->type_name("FILE.svg");
    verb->footer(
        "Columns: a, 24 random bits; b, floats in (0, 1); c, 40 random bits, which take two planes of depths; d, "
        "as a with NULLs; e, floats in [0, 1), 0 among them. pair: b <= e. extreme: MIN. kth: the 1000th "
        "largest. groups: COUNT and MAX by e, which has 4,096 values, and by c, of which few are alike.\n\n"
        "Examples:\n"
        "  quadmill bench query --rivals --n 2^20,2^22 --plot queries.svg\n"
        "  quadmill bench query --queries predicate,cnf --engines depth,cpu --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
