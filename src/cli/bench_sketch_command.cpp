#include <fmt/core.h>

#include <memory>
#include <optional>

#include "bench/sketch_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

struct BenchSketch : BenchRun {
    BenchSketch() { repeat = 3; }

    std::vector<std::size_t> n;
    std::vector<SketchKind> kinds{SketchKind::Thread,  SketchKind::Warp, SketchKind::Half,
                                  SketchKind::Quarter, SketchKind::Msws, SketchKind::Sf};
    std::vector<SketchEngine> engines{SketchEngine::BlendCounters, SketchEngine::BlendBuckets,
                                      SketchEngine::BlendPacked, SketchEngine::Sort, SketchEngine::Auto};
    std::vector<double> loads{0.5, 1};
    std::vector<input::Distribution> distributions{input::Distribution::Uniform, input::Distribution::Equal};
    bool quick = false;
    std::string plot_file;

    void run();

  private:
    [[nodiscard]] std::vector<SketchContender> contenders() const;
    [[nodiscard]] std::vector<SketchCase> cases() const;
    void print_case(const SketchCaseResult& found) const;
    [[nodiscard]] static std::string title(const SketchCase& which);
    [[nodiscard]] Json to_json(const SketchCaseResult& found) const;
    void write_plots(files::OutputFile& file) const;
    [[nodiscard]] Panel rates(const std::string& title, bool inserts) const;
    [[nodiscard]] Panel errors() const;
    void print_accuracy() const;
    [[nodiscard]] const SketchResult* best(const SketchCaseResult& found, bool inserts) const;
    [[nodiscard]] std::optional<double> times_thread(const SketchCaseResult& found, const SketchResult& result,
                                                     bool inserts) const;

    std::vector<SketchCaseResult> all_;
    std::vector<SketchAccuracy> accuracy_;
};

std::vector<SketchContender> BenchSketch::contenders() const {
    std::vector<SketchContender> all;
    for (const auto engine : engines) {
        if (engine != SketchEngine::Cpu) all.push_back({input::word_for(input::sketch_engine_words, engine), engine});
    }
    if (with_rivals) {
        all.push_back({"cpu, 1 thread", SketchEngine::Cpu, 1});
        all.push_back({"cpu, all threads", SketchEngine::Cpu, 0});
    }
    return all;
}

std::vector<SketchCase> BenchSketch::cases() const {
    std::vector<SketchCase> all;
    for (const auto distribution : distributions) {
        for (const auto count : n) {
            for (const auto load : loads) {
                for (const auto kind : kinds) all.push_back({kind, count, load, distribution});
            }
        }
    }
    return all;
}

std::string BenchSketch::title(const SketchCase& which) {
    return fmt::format("{}, {} {} keys, load {}", input::word_for(input::sketch_kind_words, which.kind), which.n,
                       input::word_for(input::distribution_words, which.distribution), which.load);
}

const SketchTimes& times_of(const SketchResult& result, bool inserts) {
    return inserts ? result.insert : result.query;
}

// The fastest result on the GPU.
const SketchResult* BenchSketch::best(const SketchCaseResult& found, bool inserts) const {
    const SketchResult* best = nullptr;
    for (const auto& result : found.results) {
        if (!result.ran() || result.contender->is_rival()) continue;
        if (!best || times_of(result, inserts).ms < times_of(*best, inserts).ms) best = &result;
    }
    return best;
}

// The rate divided by that of the one-thread sketch, by points on the same keys.
std::optional<double> BenchSketch::times_thread(const SketchCaseResult& found, const SketchResult& result,
                                                bool inserts) const {
    for (const auto& other : all_) {
        const auto &a = found.which, &b = other.which;
        if (b.kind != SketchKind::Thread || a.n != b.n || a.load != b.load || a.distribution != b.distribution)
            continue;
        for (const auto& thread : other.results) {
            if (thread.ran() && thread.contender->engine == SketchEngine::BlendCounters)
                return times_of(thread, inserts).ms / times_of(result, inserts).ms;
        }
    }
    return {};
}

void BenchSketch::print_case(const SketchCaseResult& found) const {
    fmt::print("\n{}: width {}\n{:<16} {:>16} {:>11} {:>9} {:>14} {:>16} {:>11} {:>9}\n", title(found.which),
               found.width, "", "Minserts/s", "% of limit", "x thread", "from memory", "Mqueries/s", "% of limit",
               "x thread");
    for (const auto& r : found.results) {
        if (!r.ran()) {
            fmt::print("{:<16} {:>16}  {}\n", r.contender->name, "n/a", r.refusal);
            continue;
        }
        const auto number = [](std::optional<double> value, const char* unit) {
            return value ? fmt::format("{:.2f}{}", *value, unit) : std::string();
        };
        const auto count = found.which.n;
        fmt::print("{:<16} {:>16.2f} {:>11} {:>9} {:>14} {:>16.2f} {:>11} {:>9}{}\n", r.contender->name,
                   r.insert.per_s(count) * 1e-6, number(r.insert_percent_of_limit, " %"),
                   number(times_thread(found, r, true), ""),
                   r.insert_memory.ms > 0 ? fmt::format("{:.2f}", r.insert_memory.per_s(count) * 1e-6) : "",
                   r.query.per_s(count) * 1e-6, number(r.query_percent_of_limit, " %"),
                   number(times_thread(found, r, false), ""), r.verified ? "" : "  WRONG RESULT");
    }
}

Json to_json(const SketchTimes& times, std::size_t n) {
    return {{"ms", times.ms}, {"low_ms", times.low_ms}, {"high_ms", times.high_ms}, {"keys_per_s", times.per_s(n)}};
}

Json BenchSketch::to_json(const SketchCaseResult& found) const {
    const auto& which = found.which;
    Json out{{"kind", input::word_for(input::sketch_kind_words, which.kind)},
             {"distribution", input::word_for(input::distribution_words, which.distribution)},
             {"n", which.n},
             {"load", which.load},
             {"width", found.width},
             {"counters", found.counters},
             {"contenders", Json::array()}};
    for (const auto& r : found.results) {
        auto one = contender_head(r);
        if (r.ran()) {
            one.update(
                Json{{"verified", r.verified},
                     {"insert", cli::to_json(r.insert, which.n)},
                     {"query", cli::to_json(r.query, which.n)},
                     {"insert_from_memory", r.insert_memory.ms > 0 ? cli::to_json(r.insert_memory, which.n) : Json()},
                     {"insert_percent_of_limit", or_null(r.insert_percent_of_limit)},
                     {"query_percent_of_limit", or_null(r.query_percent_of_limit)},
                     {"insert_times_thread", or_null(times_thread(found, r, true))},
                     {"query_times_thread", or_null(times_thread(found, r, false))},
                     {"bytes", r.bytes}});
        }
        out["contenders"].push_back(std::move(one));
    }
    return out;
}

// Fig. 5 or 6: the fastest engine of each kind, and the paper's figure for 2^27.
Panel BenchSketch::rates(const std::string& title, bool inserts) const {
    const auto* const what = inserts ? "inserts a second" : "queries a second";
    Panel panel{title, "operations", what, {}};
    for (const auto kind : kinds) {
        Series series{input::word_for(input::sketch_kind_words, kind), Line::Solid, {}};
        for (const auto& found : all_) {
            const auto& which = found.which;
            if (which.kind != kind || which.load != loads.front() || which.distribution != distributions.front())
                continue;
            if (const auto* result = best(found, inserts))
                series.points.emplace_back(static_cast<double>(which.n), times_of(*result, inserts).per_s(which.n));
        }
        panel.series.push_back(std::move(series));
    }
    for (const auto& paper : paper_rates()) {
        const double rate = 1e6 * (inserts ? paper.insert_2080ti : paper.query_2080ti);
        panel.series.push_back(
            {input::word_for(input::sketch_kind_words, paper.kind) + ", paper", Line::Dashed, {{std::exp2(27), rate}}});
    }
    return panel;
}

// Fig. 7.
Panel BenchSketch::errors() const {
    Panel panel{"Fig. 7: mean relative error of uniform keys", "load: keys / width", "percent", {}};
    for (const auto& one : accuracy_) {
        const auto add = [&](const std::string& name, Line line, double percent) {
            auto series = std::ranges::find(panel.series, name, &Series::name);
            if (series == panel.series.end()) {
                panel.series.push_back({name, line, {}});
                series = panel.series.end() - 1;
            }
            if (percent > 0) series->points.emplace_back(one.load, percent);
        };
        add(one.name, Line::Solid, one.percent);
        if (one.paper_percent) add(one.name + ", paper", Line::Dashed, *one.paper_percent);
    }
    return panel;
}

void BenchSketch::write_plots(files::OutputFile& file) const {
    const auto load = fmt::format(", load {}", loads.front());
    write_plot(file, {rates("Fig. 5: inserts" + load + "; paper: 2080 Ti, load 0.5", true),
                      rates("Fig. 6: queries" + load + "; paper: 2080 Ti, load 0.5", false), errors()});
}

void BenchSketch::print_accuracy() const {
    fmt::print("\nmean relative error of uniform keys, in percent\n{:<10} {:>6} {:>10} {:>10}\n", "", "load", "here",
               "paper");
    for (const auto& one : accuracy_) {
        fmt::print("{:<10} {:>6} {:>10.2f} {:>10}\n", one.name, one.load, one.percent,
                   one.paper_percent ? fmt::format("{:.2f}", *one.paper_percent) : "");
    }
}

void BenchSketch::run() {
    const auto plot_to = open_plot(plot_file);
    auto [context, why_not] = open_context();
    const bool gpu = context && !context->info().software;
    if (n.empty()) {
        const std::vector<int> powers = quick ? std::vector{15, gpu ? 22 : 17}
                                        : gpu ? std::vector{15, 18, 21, 24}
                                              : std::vector{15, 18};
        for (const int power : powers) n.push_back(std::size_t{1} << static_cast<unsigned>(power));
    }
    if (quick) loads.resize(1);
    std::ranges::sort(n);
    auto report = facts(context, {});
    if (!json) print_facts(context, "keys in a texture (for the CPU, in memory) to the end of the last pass");
    SketchBench bench(std::move(context), std::move(why_not), contenders(), repeat);
    bool right = true;
    report["cases"] = Json::array();
    for (const auto& which : cases()) {
        all_.push_back(bench.run(which));
        right = right && std::ranges::all_of(all_.back().results, &SketchResult::verified);
        if (!json) print_case(all_.back());
        report["cases"].push_back(to_json(all_.back()));
    }
    accuracy_ = SketchBench::accuracy({0.25, 0.5, 0.75, 1, 1.5, 2}, std::size_t{1} << (quick ? 14U : 17U));
    report["limits"] = limits_json(bench.limits());
    report["accuracy"] = Json::array();
    for (const auto& one : accuracy_) {
        report["accuracy"].push_back({{"name", one.name},
                                      {"load", one.load},
                                      {"percent", one.percent},
                                      {"paper_percent", or_null(one.paper_percent)}});
    }
    if (json) {
        fmt::print("{}\n", report.dump());
    } else {
        print_accuracy();
        fmt::print(
            "\n% of limit: the time that these points, or texels that queries fetch, would take at the rates below, in "
            "percent\n");
        print_limits(bench.limits());
    }
    if (plot_to) write_plots(*plot_to);
    if (!right) throw Error("bench sketch: a table or an estimate was wrong; see above");
}

}  // namespace

void add_bench_sketch_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchSketch>();
    work->command_line = command_line;
    auto* verb =
        bench.add_subcommand("sketch", "Time inserts and queries of sketches, and how far their estimates are off");
    verb->add_option("--n", work->n, "Numbers of operations, such as 1000 or 2^20, comma-separated")
        ->delimiter(',')
        ->transform(count_of_keys())
        ->type_name("N,...")
        ->default_str("2^15,2^18,2^21,2^24; without a GPU 2^15,2^18");
    verb->add_option("--kinds", work->kinds, "Kinds of sketches (default: all)")
        ->delimiter(',')
        ->transform(input::one_of(input::sketch_kind_words));
    verb->add_option("--engines", work->engines, "Engines to compare with the CPU (default: all)")
        ->delimiter(',')
        ->transform(input::one_of(input::sketch_engine_words));
    verb->add_option("--loads", work->loads, "Number of operations as a fraction of the width, comma-separated")
        ->delimiter(',')
        ->check(input::number_from(0.001, 1000))
        ->default_str("0.5,1");
    verb->add_option("--dist", work->distributions, "Distributions of the keys")
        ->delimiter(',')
        ->transform(input::one_of(input::distribution_words))
        ->default_str("uniform,equal");
    verb->add_flag("--quick", work->quick, "Two counts and one load");
    verb->add_option("--plot", work->plot_file, "Draw Fig. 5, 6 and 7 of QSketch from this run, as SVG")
        ->type_name("FILE.svg");
    work->add_to(
        *verb, "Count-min sketches on the CPU with the same hash functions as well, on one thread and on all threads");
    verb->footer(
        "Examples:\n"
        "  quadmill bench sketch --quick --rivals\n"
        "  quadmill bench sketch --n 2^15,2^20,2^25,2^27 --loads 0.5 --rivals --plot sketch.svg --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
