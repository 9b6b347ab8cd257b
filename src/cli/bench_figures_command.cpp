#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>

#include "bench/figures/figure_folder.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "cpu/stopwatch.hpp"
#include "files/temporary_file.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

struct BenchFigures : BenchRun {
    std::string folder = "figures", files = files::temporary_folder(), nbody, note, page;
    std::vector<std::string> only, from;
    bool quick = false, again = false, list = false;

    void run();

  private:
    [[nodiscard]] bool is_wanted(const Figure& figure) const {
        return only.empty() || std::ranges::find(only, figure.id) != only.end();
    }
    [[nodiscard]] FigureFacts facts_of(const std::optional<Context>& context) const;
    void print_verdicts(const Figure& figure, const FigureData& data) const;
    void measure(FigureFolder& results);
    void note_wrong(const Figure& figure, const FigureData& data);
    void write_page() const;
    std::vector<std::string> failed_;
};

// The facts of all benches, as text.
FigureFacts BenchFigures::facts_of(const std::optional<Context>& context) const {
    FigureFacts all;
    const auto json_facts = facts(context, {});
    for (const auto& [name, value] : json_facts.items()) {
        if (name == "repeat" || name == "rivals_missing") continue;
        all.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    all.emplace_back("software renderer", context && context->info().software ? "yes" : "no");
    all.emplace_back("size", quick ? "--quick" : "full size");
    if (!note.empty()) all.emplace_back("note", note);
    return all;
}

void BenchFigures::print_verdicts(const Figure& figure, const FigureData& data) const {
    if (json) return;
    for (const auto& claim : figure.claims) {
        const auto [kind, ours, why] = judge(claim, data);
        fmt::print("  {}: {}{}{}\n", word_for(kind), claim.claim, ours.empty() ? "" : "; ours: " + ours,
                   why.empty() ? "" : " (" + why + ")");
    }
}

void BenchFigures::measure(FigureFolder& results) {
    auto [context, why_not] = open_context();
    const auto here = facts_of(context);
    if (!again || !only.empty()) results.must_be_of(here);
    FigureSetting setting{std::move(context), std::move(why_not), quick, device, files, nbody};
    for (const auto& figure : figures()) {
        if (!is_wanted(figure)) continue;
        if (const auto* kept = results.find(figure.id); kept && !again) {
            if (!json) fmt::print("{}: was measured on {}\n", figure.id, kept->fact("date"));
            print_verdicts(figure, *kept);
            note_wrong(figure, *kept);
            continue;
        }
        const cpu::Stopwatch watch;
        FigureData data;
        data.facts = facts_of(setting.context);
        try {
            figure.measure(setting, data);
        } catch (const std::exception& error) {  // other figures can still be made
            fmt::print(stderr, "quadmill bench figures: {}: {}\n", figure.id, error.what());
            failed_.push_back(figure.id);
            continue;
        }
        data.facts.emplace_back("seconds", fmt::format("{:.1f}", watch.ms() * 1e-3));
        results.store(figure, std::move(data));
        results.write_summary();
        const auto& kept = *results.find(figure.id);
        if (!json) fmt::print("{}: measured in {} s\n", figure.id, kept.fact("seconds"));
        print_verdicts(figure, kept);
        std::fflush(stdout);  // shown now: a run takes minutes
        note_wrong(figure, kept);
    }
}

void BenchFigures::note_wrong(const Figure& figure, const FigureData& data) {
    for (const auto& [series, what] : data.wrong) {
        fmt::print(stderr, "quadmill bench figures: {}: {}: {}\n", figure.id, series, what);
        failed_.push_back(figure.id);
    }
}

void BenchFigures::write_page() const {
    std::vector<FigureFolder> folders;
    for (const auto& one : from.empty() ? std::vector{folder} : from) {
        folders.emplace_back(one);
        if (folders.back().size() == 0)
            throw IoError(one + ": does not hold figures of this command; measure some with -o " + one, one, 0);
        folders.back().draw();  // rules and plots may be newer than the stored results
        folders.back().write_summary();
    }
    write_text(page, figures_page(folders, page));
}

void BenchFigures::run() {
    if (list) {
        for (const auto& figure : figures()) fmt::print("{:<22} {}: {}\n", figure.id, figure.paper, figure.title);
        return;
    }
    for (const auto& id : only) {
        if (std::ranges::find(figures(), id, &Figure::id) == figures().end())
            throw CLI::ValidationError("--only", "no figure is called '" + id + "'; --list says which there are");
    }
    if (!from.empty() && page.empty()) throw CLI::ValidationError("--from", "goes with --page");
    if (!page.empty()) {
        write_page();
        return;
    }
    FigureFolder results(folder);
    measure(results);
    if (results.size() > 0) results.write_summary();  // rules may be newer than the stored results
    if (json) fmt::print("{}", results.summary_json());
    if (!failed_.empty()) throw Error("bench figures: " + failed_.front() + " failed; see above");
    if (!json) fmt::print("{}/summary.md has every claim, its rule and its verdict\n", folder);
}

}  // namespace

void add_bench_figures_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchFigures>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand("figures", "Measure the papers' figures again, and judge their claims by rules");
    verb->add_flag("--quick", work->quick, "Sizes for two cores: a few minutes in all");
    verb->add_option("-o", work->folder, "Folder for a CSV and an SVG per figure, summary.md and summary.json")
        ->type_name("DIR")
        ->capture_default_str();
    verb->add_option("--only", work->only, "Figures to measure, by their names in --list (default: all)")
        ->delimiter(',')
        ->type_name("ID,...");
    verb->add_flag("--list", work->list, "List the figures, without measuring");
    verb->add_flag("--again", work->again, "Also measure figures that DIR already has");
    verb->add_option("--folder", work->files, "Folder for files that are sorted; they are removed")
        ->check(CLI::ExistingDirectory)
        ->capture_default_str();
    verb->add_option("--nbody", work->nbody, "The program of demos/nbody, for the slides' N-body")
        ->check(CLI::ExistingFile);
    verb->add_option("--note", work->note,
                     "A note about the machine, such as other programs that ran, for CSVs and pages");
    verb->add_option(
            "--page", work->page,
            "Do not measure: write a page of the results in folders (see --from), and their summaries and plots again")
        ->type_name("FILE.md");
    verb->add_option("--from", work->from, "For --page: folders of results, one per machine (default: that of -o)")
        ->delimiter(',')
        ->type_name("DIR,...");
    verb->add_flag("--json", work->json, "The summary as JSON on standard output");
    add_device_option(*verb, work->device);
    verb->footer(
        "A figure that DIR already has is not measured again, so a run that was stopped continues there.\n"
        "Examples:\n"
        "  quadmill bench figures --quick -o results\n"
        "  quadmill bench figures --only sigmod06-fig6-7,mds09-fig5 -o results\n"
        "  quadmill bench figures --page reproduction.md --from results,other");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
