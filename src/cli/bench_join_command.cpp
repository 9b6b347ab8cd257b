#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/join_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "files/files.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

const input::Words<JoinFigure> figure_words{
    {"5", JoinFigure::Greater}, {"6", JoinFigure::Matching}, {"7", JoinFigure::Multiple}, {"9", JoinFigure::Graph}};
const input::Words<QueryEngine> gpu_engine_words{{"bitmap", QueryEngine::Bitmap}, {"depth", QueryEngine::Depth}};

struct BenchJoin : BenchRun {
    std::vector<JoinFigure> figures{JoinFigure::Greater, JoinFigure::Matching, JoinFigure::Multiple, JoinFigure::Graph};
    QueryEngine engine = QueryEngine::Bitmap;
    std::string plot_file;

    void run();

  private:
    [[nodiscard]] std::vector<JoinContender> contenders() const;
    static void print_case(const JoinCaseResult& found);
    [[nodiscard]] static Json to_json(const JoinCaseResult& found);
};

std::vector<JoinContender> BenchJoin::contenders() const {
    std::vector<JoinContender> all{
        {"ours", JoinBy::Pipelined}, {"one-op", JoinBy::OneOperation}, {"cpu", JoinBy::CpuLoops}};
    if (with_rivals) all.insert(all.end(), {{"merge", JoinBy::Merge}, {"cpu merge", JoinBy::CpuMerge}});
    return all;
}

std::string title(const JoinCase& which) {
    switch (which.figure) {
        case JoinFigure::Greater:
            return fmt::format("figure 5: {} values > a constant", which.x);
        case JoinFigure::Matching:
            return fmt::format("figure 6: join of {} and {}, {} % match", which.rows, which.rows, which.x);
        case JoinFigure::Multiple:
            return fmt::format("figure 7: join of {} and {}, pairs an element: {}", which.rows, which.rows, which.x);
        case JoinFigure::Graph:
            break;
    }
    return fmt::format("figures 8 and 9: (c > d0 OR e > d1) JOIN, {} rows", which.rows);
}

void BenchJoin::print_case(const JoinCaseResult& found) {
    fmt::print("\n{}: {} come out\n{:<12} {:>10} {:>24}\n", title(found.which), found.which.result, "", "ms",
               "(lowest .. highest)");
    for (const auto& result : found.results) {
        if (!result.ran()) continue;
        fmt::print("{:<12} {:>10.3f} {:>24}{}\n", result.contender->name, result.ms, spread_words(result),
                   result.verified ? "" : "  WRONG RESULT");
    }
    for (const auto& result : found.results) {
        if (!result.ran() && found.which.figure == JoinFigure::Graph)
            fmt::print("without {}: {}\n", result.contender->name, result.refusal);
    }
    const auto& ours = found.results.front();
    for (const auto& result : found.results) {
        if (ours.ran() && result.ran() && result.ms < ours.ms)
            fmt::print("ours loses to {} by {:.2f}\n", result.contender->name, ours.ms / result.ms);
    }
}

Json BenchJoin::to_json(const JoinCaseResult& found) {
    Json out{{"figure", static_cast<int>(found.which.figure)},
             {"name", title(found.which)},
             {"rows", found.which.rows},
             {"x", found.which.x},
             {"result", found.which.result},
             {"contenders", Json::array()}};
    for (const auto& result : found.results) out["contenders"].push_back(contender_json(result));
    return out;
}

// Plots milliseconds against x, with one panel per figure that has an axis.
class TimePlot {
  public:
    void add(const JoinCaseResult& found) {
        if (found.which.figure == JoinFigure::Graph) return;
        const auto name = fmt::format("figure {}", static_cast<int>(found.which.figure));
        if (panels_.empty() || panels_.back().title != name)
            panels_.push_back({name, labels(found.which.figure), "ms", {}, Scale::Linear});
        add_points(panels_.back(), found.which.x, found.results, [](const JoinTimes& times) { return times.ms; });
    }
    void write(files::OutputFile& file) const { write_plot(file, panels_); }

  private:
    static const char* labels(JoinFigure figure) {
        return figure == JoinFigure::Greater    ? "values"
               : figure == JoinFigure::Matching ? "% of elements that match"
                                                : "pairs an element";
    }
    std::vector<Panel> panels_;
};

void BenchJoin::run() {
    const auto plot_to = open_plot(plot_file);
    auto [context, why_not] = open_context();
    if (!json) print_facts(context, "from columns in memory to the result in memory");
    auto report = facts(context, {});
    report["engine"] = input::word_for(gpu_engine_words, engine);
    report["cases"] = Json::array();
    JoinBench bench(context, std::move(why_not), contenders(), engine, repeat);
    TimePlot plot;
    bool right = true;
    for (const auto& which : join_cases(figures)) {
        const auto found = bench.run(which);
        right = right && std::ranges::all_of(found.results, &JoinTimes::verified);
        plot.add(found);
        if (!json) print_case(found);
        report["cases"].push_back(to_json(found));
    }
    if (json) fmt::print("{}\n", report.dump());
    if (plot_to) plot.write(*plot_to);
    if (!right) throw Error("bench join: an answer was wrong; see above");
}

}  // namespace

void add_bench_join_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchJoin>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand("join", "Time operators on streams and their graph: the figures of MDS'09");
    verb->add_option("--figures", work->figures, "Figures of the paper (default: all)")
        ->delimiter(',')
        ->transform(input::one_of(figure_words));
    verb->add_option("--engine", work->engine, "The engine that selects rows on the GPU")
        ->transform(input::one_of(gpu_engine_words))
        ->default_str("bitmap");
    work->add_to(*verb, "Joins by sorting as well, in the context and on the CPU");
    verb->add_option("--plot", work->plot_file, "Draw the times of figures 5 to 7 as SVG")->type_name("FILE.svg");
    verb->footer(
        "ours: nested loops on the GPU; selections stay there, and pairs come back. one-op: each operation by "
        "itself; its columns are uploaded and its rows read back. cpu: nested loops on one thread.\n"
        "Figure 5: 15,000 to 165,000 values against a constant. Figures 6 and 7: joins of 9,000 values, of which "
        "0 to 100 % match, or with 1 to 20 pairs per element. Figure 9: the graph of figure 8; of 15,000 values "
        "the first comparison masks 7,679 out, and after OR 13,068 go on to a join of 6,790 pairs.\n\n"
        "Examples:\n"
        "  quadmill bench join --rivals\n"
        "  quadmill bench join --figures 9 --engine depth --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
