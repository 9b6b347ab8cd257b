#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "bench/sort_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "cli/tuned.hpp"
#include "files/files.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

struct BenchSort : BenchOptions {
    std::vector<std::size_t> n{std::size_t{1} << 16, std::size_t{1} << 18, std::size_t{1} << 20};
    std::vector<std::string> engines;
    Sorted sorted = Sorted::Keys;
    std::string plot_file;

    void run();
    // The values of --engines.
    [[nodiscard]] static std::vector<Contender> all_engines();

  private:
    void list_contenders();
    [[nodiscard]] SortBench open_bench();
    [[nodiscard]] static std::string title(const SortCase& which);
    void print_case(const CaseResult& found) const;
    [[nodiscard]] Json to_json(const CaseResult& found) const;
    [[nodiscard]] Json to_json(const CaseResult& found, const Result& result) const;
    static void explain_limits(const std::vector<Limit>& limits);
    // The case in which `auto` was furthest behind another engine, and by what factor. Nothing if it or the others did
    // not run.
    struct Behind {
        double times = 0;
        const CaseResult* of = nullptr;
    };
    [[nodiscard]] static std::optional<Behind> auto_behind(const std::vector<CaseResult>& all);

    std::vector<Contender> contenders_;
    Json head_;
};

const input::Words<Sorted> sorted_words{
    {"keys", Sorted::Keys}, {"pairs", Sorted::Pairs}, {"pointers", Sorted::Pointers}, {"texture", Sorted::Texture}};

std::vector<Contender> BenchSort::all_engines() {
    std::vector<Contender> all;
    for (const auto& [word, engine] : input::engine_words) all.push_back({word, SortOptions{.engine = engine}});
    all.push_back({"merge-fragment", SortOptions{.engine = Engine::Merge, .merge = {MergeKernel::Fragment}}});
    all.push_back({"bitonic-paper", paper_form_of_bitonic()});
    all.push_back({"kipfer", EarlySort::Kipfer});
    all.push_back({"purcell", EarlySort::Purcell});
    return all;
}

void BenchSort::list_contenders() {
    auto all = all_engines();
    if (engines.empty()) all.resize(input::engine_words.size());
    for (auto& one : all) {
        if (engines.empty() || std::ranges::find(engines, one.name) != engines.end())
            contenders_.push_back(std::move(one));
    }
    for (const auto* rival : rivals("sort")) contenders_.push_back({rival->name, rival});
}

SortBench BenchSort::open_bench() {
    list_contenders();
    auto [context, why_not] = open_context();
    for (auto& one : contenders_) {
        auto* const how = std::get_if<SortOptions>(&one.what);
        if (!context || !how || how->engine != Engine::Auto) continue;
        if (const auto tuned = tuned_for(context->info(), how->threads)) how->crossings = tuned->sort;
    }
    head_ = facts(context, missing_rivals());
    if (!json) print_facts(context, "memory to memory; x NAME: its time over this one");
    return {std::move(context), std::move(why_not), contenders_, repeat};
}

std::string BenchSort::title(const SortCase& which) {
    return input::word_for(input::type_words, which.type) + " " +
           input::word_for(input::distribution_words, which.distribution) +
           (which.sorted == Sorted::Keys ? "" : " " + input::word_for(sorted_words, which.sorted));
}

void BenchSort::print_case(const CaseResult& found) const {
    const RivalColumns columns(found.results);
    fmt::print("\n{}, {} keys\n{:<14} {:>10} {:>22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10}", title(found.which),
               found.which.n, "", "ms", "(lowest .. highest)", "Mkeys/s", "upload", "passes", "read back", "merge",
               "% of limit");
    columns.end_head();
    for (const auto& result : found.results) {
        if (!result.ran()) {
            fmt::print("{:<14} {:>10}  {}\n", result.contender->name, "n/a", result.refusal);
            continue;
        }
        fmt::print("{:<14} {:>10.3f} {:>22} {:>9.2f}", result.contender->name, result.ms, spread_words(result),
                   per_s(found.which.n, result) * 1e-6);
        const bool by_passes = result.parts.passes > 0;
        for (const double part :
             {result.parts.upload_ms, result.parts.sort_ms, result.parts.readback_ms, result.parts.merge_ms})
            fmt::print(" {:>9}", by_passes ? fmt::format("{:.3f}", part) : "");
        const auto percent = result.percent_of_limit();
        fmt::print(" {:>10}", percent ? fmt::format("{:.0f} %", *percent) : "");
        columns.end_line(result);
    }
    print_losses(found.results);
}

Json BenchSort::to_json(const CaseResult& found, const Result& result) const {
    Json out = contender_json(result, "keys_per_s", found.which.n);
    if (!result.ran()) return out;
    if (!result.contender->is_rival()) out["engine"] = input::word_for(input::engine_words, result.parts.engine);
    if (!result.contender->is_rival() || result.parts.passes > 0) {
        out.update(Json{{"passes", result.parts.passes},
                        {"upload_ms", result.parts.upload_ms},
                        {"sort_ms", result.parts.sort_ms},
                        {"readback_ms", result.parts.readback_ms},
                        {"merge_ms", result.parts.merge_ms}});
        out["least_ms"] = or_null(result.min_ms);
        out["percent_of_limit"] = or_null(result.percent_of_limit());
    }
    out["times_faster_than"] = times_faster_than(found.results, result);
    return out;
}

Json BenchSort::to_json(const CaseResult& found) const {
    Json out{{"type", input::word_for(input::type_words, found.which.type)},
             {"distribution", input::word_for(input::distribution_words, found.which.distribution)},
             {"what", input::word_for(sorted_words, found.which.sorted)},
             {"n", found.which.n},
             {"contenders", Json::array()}};
    for (const auto& result : found.results) out["contenders"].push_back(to_json(found, result));
    return out;
}

void BenchSort::explain_limits(const std::vector<Limit>& limits) {
    if (limits.empty()) return;
    fmt::print(
        "\n% of limit: the time that writing the texels of the passes would take at the rates below, in percent of "
        "their "
        "time;\n            too high if the GPU skipped passes because all was in order.\n");
    print_limits(limits);
}

std::optional<BenchSort::Behind> BenchSort::auto_behind(const std::vector<CaseResult>& all) {
    std::optional<Behind> worst;
    for (const auto& found : all) {
        const Result* by_auto = nullptr;
        double best = std::numeric_limits<double>::infinity();
        for (const auto& result : found.results) {
            if (!result.ran() || result.contender->is_rival()) continue;
            if (result.contender->name == "auto") {
                by_auto = &result;
            } else {
                best = std::min(best, result.ms);
            }
        }
        if (!by_auto || !std::isfinite(best)) continue;
        if (!worst || by_auto->ms / best > worst->times) worst = Behind{by_auto->ms / best, &found};
    }
    return worst;
}

void BenchSort::run() {
    const auto plot_to = open_plot(plot_file);
    std::ranges::sort(n);
    std::optional<bench::RivalThreads> rival_threads;
    if (with_rivals) rival_threads.emplace();
    auto bench = open_bench();
    std::vector<CaseResult> all;
    bool right = true;
    for (const auto type : types) {
        for (const auto distribution : distributions) {
            for (const auto count : n) {
                all.push_back(bench.run({type, distribution, count, sorted}));
                right = right && std::ranges::all_of(all.back().results, &Result::verified);
                if (!json) print_case(all.back());
            }
        }
    }
    const auto behind = auto_behind(all);
    if (json) {
        if (behind) {
            const auto& which = behind->of->which;
            head_["auto"] = {{"times_the_best_engine", behind->times}, {"case", title(which)}, {"n", which.n}};
        }
        head_["limits"] = limits_json(bench.limits());
        head_["cases"] = Json::array();
        for (const auto& found : all) head_["cases"].push_back(to_json(found));
        fmt::print("{}\n", head_.dump());
    } else {
        if (behind) {
            fmt::print("\nauto takes at most {:.2f} times as long as the best other engine: {}, {} keys\n",
                       behind->times, title(behind->of->which), behind->of->which.n);
        }
        explain_limits(bench.limits());
    }
    if (plot_to) {
        RatePlot plot("keys");
        for (const auto& found : all) plot.add(title(found.which), found.which.n, found.results);
        plot.write(*plot_to);
    }
    if (!right) throw Error("bench sort: a result was wrong; see above");
}

}  // namespace

void add_bench_sort_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchSort>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand(
        "sort", "Time sorts from memory to memory: the engines in turn, with fresh keys each time");
    verb->add_option("--n", work->n, "Numbers of keys, such as 1000 or 2^20, comma-separated")
        ->delimiter(',')
        ->transform(count_of_keys())
        ->type_name("N,...")
        ->default_str("2^16,2^18,2^20");
    std::vector<std::string> names;
    for (const auto& engine : BenchSort::all_engines()) names.push_back(engine.name);
    verb->add_option("--engines", work->engines,
                     "Engines (default: all of `quadmill sort`); merge-fragment is Merge without subgroups; "
                     "bitonic-paper is GPUTeraSort's own form, kipfer and "
                     "purcell are the bitonic sorts that it was compared with")
        ->delimiter(',')
        ->check(input::one_of(names));
    verb->add_option("--what", work->sorted,
                     "Sort keys, key-pointer pairs, only pointers, or pointers to keys in a texture, without transfers")
        ->transform(input::one_of(sorted_words))
        ->default_str("keys");
    work->add_to(*verb);
    verb->add_option("--plot", work->plot_file, "Draw keys per second against n, as SVG")->type_name("FILE.svg");
    verb->footer(
        "Examples:\n"
        "  quadmill bench sort --rivals --n 2^16,2^18,2^20 --plot sorts.svg\n"
        "  quadmill bench sort --types f32,u64 --dist uniform,sorted,dup --engines cpu,pbsn --json\n"
        "  quadmill bench sort --what pairs --engines bitonic-paper,kipfer,purcell,pbsn --n 2^20,2^22,2^24");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
