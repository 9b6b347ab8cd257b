#include <fmt/core.h>

#include <memory>

#include "bench/linalg_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

const input::Words<Pivot> pivots{{"none", Pivot::Diagonal}, {"partial", Pivot::Partial}, {"full", Pivot::Full}};

struct BenchLinalg : BenchRun {
    std::vector<std::size_t> n{512, 1024, 2048, 4096};
    std::vector<Pivot> which{Pivot::Diagonal, Pivot::Partial, Pivot::Full};
    std::vector<std::string> forms;
    std::vector<std::size_t> batch{4, 8, 16, 32};
    std::size_t systems = std::size_t{1} << 14U;
    bool with_parts = false;
    std::string plot_file;

    void run();

  private:
    [[nodiscard]] std::vector<LuContender> contenders() const;
    [[nodiscard]] static std::vector<MissingRival> missing_rivals();
    void print(const LuCase& found) const;
    static void print_parts(const LuTimes& result);
    [[nodiscard]] static Json to_json(const LuCase& found);
};

std::vector<LuContender> BenchLinalg::contenders() const {
    std::vector<LuContender> all{
        {"a row a pass", {.pivot = Pivot::Diagonal, .block = 1}},
        {"16 rows, scalars", {.pivot = Pivot::Diagonal, .block = 16, .layout = Layout::Scalars}},
        {"16 rows, tiles", {.pivot = Pivot::Diagonal, .block = 16}},
        {"32 rows, tiles", {.pivot = Pivot::Diagonal, .block = 32}},
        {"a row a pass, pointers", {.pivot = Pivot::Partial, .swap = Swap::Pointer, .block = 1}},
        {"a row a pass, copies", {.pivot = Pivot::Partial, .swap = Swap::Copy, .block = 1}},
        {"16 rows, scalars", {.pivot = Pivot::Partial, .block = 16, .layout = Layout::Scalars}},
        {"16 rows, tiles", {.pivot = Pivot::Partial, .block = 16}},
        {"32 rows, tiles", {.pivot = Pivot::Partial, .block = 32}},
        {"a row a pass, pointers", {.pivot = Pivot::Full, .swap = Swap::Pointer}},
        {"a row a pass, copies", {.pivot = Pivot::Full, .swap = Swap::Copy}}};
    const auto is_wanted = [&](const std::string& word) {
        return std::ranges::any_of(all, [&](const auto& form) { return form.name.find(word) != std::string::npos; });
    };
    for (const auto& word : forms) {
        if (!is_wanted(word)) throw CLI::ValidationError("--forms", "no form's name has '" + word + "' in it");
    }
    std::erase_if(all, [&](const auto& form) {
        return !forms.empty() && std::ranges::none_of(forms, [&](const std::string& word) {
            return form.name.find(word) != std::string::npos;
        });
    });
    for (const auto& rival : lu_rivals()) {
        if (with_rivals && rival.factor) all.push_back({rival.name, {}, &rival});
    }
    return all;
}

std::vector<MissingRival> BenchLinalg::missing_rivals() {
    std::vector<MissingRival> missing;
    for (const auto& rival : lu_rivals()) {
        if (!rival.factor) missing.push_back({rival.name, rival.package});
    }
    return missing;
}

void BenchLinalg::print_parts(const LuTimes& result) {
    double sum = 0;
    for (const auto& part : result.parts) sum += part.gpu_ms;
    fmt::print("\n{}: {:.3f} ms of passes\n", result.contender->name, sum);
    for (const auto& part : result.parts)
        fmt::print("  {:<20} {:>8} passes {:>12.3f} ms {:>6.1f} % {:>10.2f} us a pass\n", part.name, part.passes,
                   part.gpu_ms, sum > 0 ? 100 * part.gpu_ms / sum : 0,
                   part.gpu_ms * 1e3 / static_cast<double>(part.passes));
}

void BenchLinalg::print(const LuCase& found) const {
    const RivalColumns columns(found.results);
    const auto many = found.systems > 1 ? fmt::format("{} matrices of ", found.systems) : std::string();
    fmt::print("\n{}n = {}, pivoting: {}\n{:<24} {:>10} {:>22} {:>10} {:>8} {:>9} {:>9}  {:<30}", many, found.n,
               input::word_for(pivots, found.pivot), "", "ms", "(lowest .. highest)", "GFLOP/s", "passes", "us/pass",
               "residual", "% of limit");
    columns.end_head();
    for (const auto& result : found.results) {
        if (!result.ran()) {
            fmt::print("without {}: {}\n", result.contender->name, result.refusal);
            continue;
        }
        const auto& bound = result.bound;
        fmt::print("{:<24} {:>10.3f} {:>22} {:>10.1f} {:>8} {:>9} {:>9}  {:<30}", result.contender->name, result.ms,
                   spread_words(result), found.gflops(result), result.passes,
                   result.passes > 0 ? fmt::format("{:.2f}", result.ms * 1e3 / static_cast<double>(result.passes)) : "",
                   fmt::format("{:.3g}", result.residual),
                   bound ? fmt::format("{:.0f} % of {}", bound->percent(), bound->limit) : "");
        columns.end_line(result);
    }
    print_losses(found.results);
    if (const auto times = found.blocks_over_rows())
        fmt::print("by blocks {:.2f} times as fast as a row a pass\n", *times);
    if (!with_parts) return;
    for (const auto& result : found.results) {
        if (!result.parts.empty()) print_parts(result);
    }
}

Json BenchLinalg::to_json(const LuCase& found) {
    Json out{{"n", found.n},
             {"pivot", input::word_for(pivots, found.pivot)},
             {"systems", found.systems},
             {"results", Json::array()}};
    if (const auto times = found.blocks_over_rows()) out["blocks_over_rows"] = *times;
    for (const auto& result : found.results) {
        auto one = contender_json(result);
        if (result.ran()) {
            one.update(Json{{"gflops", found.gflops(result)},
                            {"residual", result.residual},
                            {"times_faster_than", times_faster_than(found.results, result)}});
        }
        if (result.ran() && !result.contender->is_rival()) {
            one.update(Json{{"passes", result.passes}, {"upload_ms", result.upload_ms}});
            if (const auto& bound = result.bound)
                one["bound"] = {{"pass", bound->pass},
                                {"limit", bound->limit},
                                {"ms", bound->ms},
                                {"least_ms", bound->min_ms},
                                {"percent_of_limit", bound->percent()}};
            one["parts"] = Json::array();
            for (const auto& part : result.parts)
                one["parts"].push_back({{"pass", part.name}, {"passes", part.passes}, {"gpu_ms", part.gpu_ms}});
        }
        out["results"].push_back(std::move(one));
    }
    return out;
}

void BenchLinalg::run() {
    const auto plot_to = open_plot(plot_file);
    std::ranges::sort(n);
    std::ranges::sort(batch);
    auto all = contenders();
    note_missing("linalg", missing_rivals());
    auto [context, why_not] = open_context();
    if (!json)
        print_facts(context, "the matrix being on the GPU, until its factors are; x NAME: its time over this one");
    auto report = facts(context, missing_rivals());
    report["cases"] = Json::array();
    LinalgBench bench(context, std::move(why_not), std::move(all), repeat);
    RatePlot plot("rows", "GFLOP/s");
    bool right = true;
    const auto take = [&](const LuCase& found, const std::string& title) {
        right = right && std::ranges::all_of(found.results, &LuTimes::verified);
        plot.add(title, found.n, found.results, [&](const LuTimes& result) { return found.gflops(result); });
        if (!json) print(found);
        report["cases"].push_back(to_json(found));
    };
    for (const auto size : n) {
        for (const auto pivot : which) take(bench.run(size, pivot), "pivoting: " + input::word_for(pivots, pivot));
    }
    for (const auto size : batch) {
        if (size > 0) take(bench.run_batch(size, systems), fmt::format("{} small matrices together", systems));
    }
    report["limits"] = limits_json(bench.limits());
    if (json) {
        fmt::print("{}\n", report.dump());
    } else {
        if (!bench.limits().empty()) fmt::print("\n% of limit: at the rates below\n");
        print_limits(bench.limits());
    }
    if (plot_to) plot.write(*plot_to);
    if (!right) throw Error("bench linalg: a factorization was wrong; see above");
}

}  // namespace

void add_bench_linalg_command(CLI::App& bench, const std::string& command_line) {
    constexpr auto max_n = std::uint64_t{1} << 14U;
    auto work = std::make_shared<BenchLinalg>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand("linalg", "Time LU by passes, in all its forms");
    verb->add_option("--n", work->n, "Sizes of the matrices, comma-separated")
        ->delimiter(',')
        ->transform(input::count_up_to(max_n))
        ->type_name("N,...")
        ->default_str("512,1024,2048,4096");
    verb->add_option("--pivot", work->which, "Kinds of pivoting (default: all)")
        ->delimiter(',')
        ->transform(input::one_of(pivots));
    verb->add_option("--forms", work->forms, "Only forms whose names have one of these words in them (default: all)")
        ->delimiter(',')
        ->type_name("WORD,...");
    verb->add_option("--batch", work->batch, "Sizes of small matrices that are factorized together; 0: none")
        ->delimiter(',')
        ->check(input::shown_number(0, LuBatch::max_n))
        ->type_name("N,...")
        ->default_str("4,8,16,32");
    verb->add_option("--systems", work->systems, "Number of these systems")
        ->transform(input::count_up_to(std::uint64_t{1} << 20U))
        ->type_name("N")
        ->default_str("2^14");
    verb->add_flag("--parts", work->with_parts, "Also print the time of each kind of pass; the JSON always has it");
    work->add_to(*verb, "Also measure OpenBLAS and Eigen");
    verb->add_option("--plot", work->plot_file, "Draw GFLOP/s against n, one panel per kind of pivoting, as SVG")
        ->type_name("FILE.svg");
    verb->footer(
        "Matrices are random, without pivoting dominant on the diagonal. % of limit: the time that the passes "
        "over the trailing matrix would take at the named limit, divided by the time that they take. Small "
        "matrices: rivals take one after the other on every thread.\n\n"
        "Examples:\n"
        "  quadmill bench linalg --rivals --plot lu.svg\n"
        "  quadmill bench linalg --n 4096 --pivot partial --forms copies,tiles --batch 0 --parts\n"
        "  quadmill bench linalg --n 256 --pivot partial --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
