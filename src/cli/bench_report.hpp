// Common parts of benches: options, contenders, and the facts at the head of a report.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/limits.hpp"
#include "bench/plot.hpp"
#include "bench/rivals.hpp"
#include "cli/json.hpp"
#include "cpu/sample_keys.hpp"
#include "files/files.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::cli {

// Converts "1000" or "2^20" to a count.
[[nodiscard]] CLI::Validator count_of_keys();

// A rival that this build lacks.
struct MissingRival {
    std::string name, package;
};

// The options of all benches, and their values.
struct BenchRun {
    bool with_rivals = false, json = false;
    int repeat = 5, device = -1;
    OpenGl api = OpenGl::Best;
    std::string command_line;

    void add_to(CLI::App& verb, const std::string& rivals);
    // --repeat and --json.
    void add_report_options(CLI::App& verb);

    struct Opened {
        std::optional<Context> context;
        std::string why_no_context;
    };
    [[nodiscard]] Opened open_context() const;
    // Writes a note about each of these to standard error if rivals are wanted.
    void note_missing(const std::string& verb, const std::vector<MissingRival>& missing) const;
    // The program, date and machine of a measurement, and the missing rivals if rivals are wanted.
    [[nodiscard]] Json facts(const std::optional<Context>& context, const std::vector<MissingRival>& missing) const;
    // The same on one line, with the method of timing.
    void print_facts(const std::optional<Context>& context, const std::string& how) const;
};

// Options of benches of sorts.
struct BenchOptions : BenchRun {
    std::vector<KeyType> types{KeyType::F32};
    std::vector<cpu::Distribution> distributions{cpu::Distribution::Uniform};

    // Adds them without those of the engines, which differ.
    void add_to(CLI::App& verb);
    // The rivals that are wanted and in this build. A note about missing ones goes to standard error.
    [[nodiscard]] std::vector<const bench::Rival*> rivals(const std::string& verb) const;
    [[nodiscard]] static std::vector<MissingRival> missing_rivals();
};

// Results of a case. Each has a contender with a name, and times.
template <class Result>
[[nodiscard]] std::vector<const Result*> rivals_of(const std::vector<Result>& results) {
    std::vector<const Result*> some;
    for (const auto& result : results) {
        if (result.contender->is_rival() && result.ran()) some.push_back(&result);
    }
    return some;
}

// "(lowest .. highest)" of the times.
template <class Times>
[[nodiscard]] std::string spread_words(const Times& times) {
    return fmt::format("({:.3f} .. {:.3f})", times.low_ms, times.high_ms);
}

// The end of a table's lines: a column per rival that ran, with the rival's time divided by the line's time.
template <class Result>
class RivalColumns {
  public:
    explicit RivalColumns(const std::vector<Result>& results) : rivals_(rivals_of(results)) {}
    void end_head() const {
        for (const auto* rival : rivals_) fmt::print(" {:>{}}", "x " + rival->contender->name, width(*rival));
        fmt::print("\n");
    }
    // Also reports wrong results.
    void end_line(const Result& result) const {
        for (const auto* rival : rivals_)
            fmt::print(" {:>{}}", rival == &result ? "" : fmt::format("{:.3g}", rival->ms / result.ms), width(*rival));
        fmt::print("{}\n", result.verified ? "" : "  WRONG RESULT");
    }

  private:
    [[nodiscard]] static std::size_t width(const Result& rival) {
        return std::max<std::size_t>(rival.contender->name.size() + 2, 8);
    }
    std::vector<const Result*> rivals_;
};

// One line per engine, with the rivals that were faster.
template <class Result>
void print_losses(const std::vector<Result>& results) {
    for (const auto& result : results) {
        if (result.contender->is_rival() || !result.ran()) continue;
        std::string lost;
        for (const auto* rival : rivals_of(results)) {
            if (rival->ms < result.ms) {
                lost += fmt::format("{} {} by {:.2f}", lost.empty() ? "" : ",", rival->contender->name,
                                    result.ms / rival->ms);
            }
        }
        if (!lost.empty()) fmt::print("{} loses to{}\n", result.contender->name, lost);
    }
}

template <class Result>
[[nodiscard]] Json times_faster_than(const std::vector<Result>& results, const Result& result) {
    auto out = Json::object();
    for (const auto* rival : rivals_of(results)) {
        if (rival != &result) out[rival->contender->name] = rival->ms / result.ms;
    }
    return out;
}

template <class Result>
[[nodiscard]] double per_s(std::size_t n, const Result& result) {
    return result.ms > 0 ? static_cast<double>(n) / result.ms * 1e3 : 0;
}

// Facts about every contender: its name and, if it did not run, the reason.
template <class Result>
[[nodiscard]] Json contender_head(const Result& result) {
    Json out{{"name", result.contender->name},
             {"kind", result.contender->is_rival() ? "rival" : "engine"},
             {"ran", result.ran()}};
    if (!result.ran()) out["reason"] = result.refusal;
    return out;
}

// The results of every contender.
template <class Result>
[[nodiscard]] Json contender_json(const Result& result) {
    auto out = contender_head(result);
    if (result.ran()) {
        out.update(Json{
            {"verified", result.verified}, {"ms", result.ms}, {"low_ms", result.low_ms}, {"high_ms", result.high_ms}});
    }
    return out;
}

// Adds the rate of n items per second as `rate`.
template <class Result>
[[nodiscard]] Json contender_json(const Result& result, const std::string& rate, std::size_t n) {
    auto out = contender_json(result);
    if (result.ran()) out[rate] = per_s(n, result);
    return out;
}

[[nodiscard]] Json limits_json(const std::vector<bench::Limit>& limits);
void print_limits(const std::vector<bench::Limit>& limits);
[[nodiscard]] Json or_null(const std::optional<double>& value);

// One series per contender, with a point (x, y(result)) if it ran. Pre: the contenders are those of the panel's first
// points.
template <class Result, class Y>
void add_points(bench::Panel& panel, std::size_t x, const std::vector<Result>& results, const Y& y) {
    using bench::Line;
    if (panel.series.empty()) {
        for (const auto& result : results) {
            panel.series.push_back(
                {result.contender->name, result.contender->is_rival() ? Line::Dashed : Line::Solid, {}});
        }
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].ran() && results[i].ms > 0)
            panel.series[i].points.emplace_back(static_cast<double>(x), y(results[i]));
    }
}

// Nothing if the path is empty. Fails before the work if the path cannot be written.
[[nodiscard]] std::unique_ptr<files::OutputFile> open_plot(const std::string& path);
void write_plot(files::OutputFile& file, const std::vector<bench::Panel>& panels);

// Plots `what` ("keys") per second against their number, with one panel per title.
class RatePlot {
  public:
    explicit RatePlot(const std::string& what) : RatePlot(what, what + " a second") {}
    // `y_label` is for callers that give each result's rate themselves.
    RatePlot(std::string what, std::string y_label) : what_(std::move(what)), y_label_(std::move(y_label)) {}
    template <class Result>
    void add(const std::string& title, std::size_t n, const std::vector<Result>& results) {
        add(title, n, results, [&](const Result& result) { return per_s(n, result); });
    }
    template <class Result, class Rate>
    void add(const std::string& title, std::size_t n, const std::vector<Result>& results, const Rate& rate) {
        auto panel = std::ranges::find(panels_, title, &bench::Panel::title);
        if (panel == panels_.end()) {
            panels_.push_back({title, what_, y_label_, {}});
            panel = panels_.end() - 1;
        }
        add_points(*panel, n, results, rate);
    }
    void add(bench::Panel panel) { panels_.push_back(std::move(panel)); }
    void write(files::OutputFile& file) const { write_plot(file, panels_); }

  private:
    std::string what_, y_label_;
    std::vector<bench::Panel> panels_;
};

void add_bench_csv_command(CLI::App& bench, const std::string& command_line);
void add_bench_devices_command(CLI::App& bench, const std::string& command_line);
void add_bench_external_command(CLI::App& bench, const std::string& command_line);
void add_bench_figures_command(CLI::App& bench, const std::string& command_line);
void add_bench_guest_command(CLI::App& bench, const std::string& command_line);
void add_bench_index_command(CLI::App& bench, const std::string& command_line);
void add_bench_join_command(CLI::App& bench, const std::string& command_line);
void add_bench_linalg_command(CLI::App& bench, const std::string& command_line);
void add_bench_picture_command(CLI::App& bench, const std::string& command_line);
void add_bench_query_command(CLI::App& bench, const std::string& command_line);
void add_bench_sketch_command(CLI::App& bench, const std::string& command_line);
void add_bench_sort_command(CLI::App& bench, const std::string& command_line);
void add_bench_stream_command(CLI::App& bench, const std::string& command_line);

}  // namespace quadmill::detail::cli
