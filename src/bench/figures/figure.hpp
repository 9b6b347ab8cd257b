// Figures of the papers, measured again: a figure's numbers, and claims that rules judge by these numbers alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/plot.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

// The origin of a number: the library, a rival, or the paper.
enum class Whose { Ours, Baseline, Paper };

struct FigurePoint {
    std::string panel;
    Whose whose;
    std::string series;
    double x, y, low, high;
};

// The content of a figure's CSV. Each text is one line.
class FigureData {
  public:
    // The program, date and machine of the measurement: names and values, in the order of the CSV's head.
    std::vector<std::pair<std::string, std::string>> facts;
    std::vector<FigurePoint> points;
    // For each missing series the reason; for each wrong one its error.
    std::vector<std::pair<std::string, std::string>> missing, wrong;

    void add(const std::string& panel, Whose whose, const std::string& series, double x, double y) {
        points.push_back({panel, whose, series, x, y, y, y});
    }
    // Adds a contender's result: its time, or the reason why there is none, and an error. Throws Error if it should
    // have drawn passes but drew none.
    template <class Result>
    void add_time(const std::string& panel, double x, const Result& result, const std::string& what_is_wrong) {
        const auto& name = result.contender->name;
        if (!result.verified) note_wrong(name, what_is_wrong);
        if (!result.ran()) {
            note_missing(name, result.refusal);
            return;
        }
        if (result.contender->draws()) must_have_drawn(name, x, result.passes);
        points.push_back({panel, result.contender->is_rival() ? Whose::Baseline : Whose::Ours, name, x, result.ms,
                          result.low_ms, result.high_ms});
    }
    // Throws Error if there were no passes: the series would compare the CPU with itself.
    static void must_have_drawn(const std::string& series, double x, std::uint64_t passes);
    void note_missing(const std::string& series, const std::string& why);
    void note_wrong(const std::string& series, const std::string& what) { wrong.emplace_back(series, what); }
    [[nodiscard]] std::string fact(const std::string& name) const;
    // Whether passes ran on the CPU; claims about GPUs cannot be judged then.
    [[nodiscard]] bool on_software() const { return fact("software renderer") == "yes"; }
    // A point: the median, with the lowest and the highest value.
    struct Range {
        double y, low, high;
    };
    [[nodiscard]] std::optional<Range> range(const std::string& panel, const std::string& series, double x) const;
    [[nodiscard]] std::optional<double> y(const std::string& panel, const std::string& series, double x) const;
    // Ascending.
    [[nodiscard]] std::vector<double> xs(const std::string& panel, const std::string& series) const;
    // The x values that both series have.
    [[nodiscard]] std::vector<double> xs(const std::string& panel, const std::string& a, const std::string& b) const;

    // Throws Error if the text is not a CSV of a figure.
    [[nodiscard]] static FigureData from_csv(const std::string& text);
    [[nodiscard]] std::string csv() const;
};

// Three significant digits, with digits before the point in groups: 0.270, 1.00, 1,090.
[[nodiscard]] std::string spoken(double value);
// A position on the x axis: 165,000, or 2^23 for powers of two.
[[nodiscard]] std::string spoken_place(double x);

struct Verdict {
    enum class Kind {
        Holds,
        Exceeds,  // does not hold, because the measurement is better than the paper's claim
        Fails,    // does not hold
        Noisy,    // the runs are on both sides of a bound
        Unlike,   // measured in another way than the paper's
        NotHere   // not measured
    } kind;
    std::string ours;   // the numbers that decided it
    std::string why{};  // reason, except for Holds and Noisy
};
[[nodiscard]] const char* word_for(Verdict::Kind kind);
inline constexpr const char* no_gpu = "no GPU";  // why: a claim about GPUs, measured without one

struct Claim {
    std::string claim;  // as the paper has it, with its numbers; what begins with "today" is ours
    std::string rule;   // the condition under which it holds
    std::function<Verdict(const FigureData&)> judge;
    // Gpu: a claim about a GPU, which a software renderer cannot decide. Its numbers are shown nevertheless.
    enum class About { Anything, Gpu } about = About::Anything;
    std::string because{};  // the reason why it does not hold, or is exceeded
    std::string unlike{};   // the difference from the paper's measurement; if set, nothing is decided
};
[[nodiscard]] Claim because(Claim claim, const std::string& reason);
[[nodiscard]] Claim unlike(Claim claim, const std::string& difference);

// The rule of slack for all claims: a number of the paper is reached at 90 % of it or, if it can be missed on both
// sides, within 10 %; 'comparable' means within a factor of two; 'faster' means above 1. The rule of spread: the
// slowest and the fastest run must be on the same side of a bound, otherwise the result is too noisy.
constexpr double slack = 0.9;
// Judges a claim by its rule. It is undecided if numbers are missing, or if it is about GPUs and was measured without
// one. A wrong answer is a failure.
[[nodiscard]] Verdict judge(const Claim& claim, const FigureData& data);

// Rules, each with a text. Times are milliseconds, where less is better.
enum class At { Smallest, Largest, Every };
// The side of the bounds on which a claim is exceeded instead of missed.
enum class Better { Above, Below, Neither };
// Compares a range with bounds.
[[nodiscard]] Verdict::Kind kind_of(const FigureData::Range& range, double min, double max, Better better);
[[nodiscard]] FigureData::Range ratio(const FigureData::Range& over, const FigureData::Range& under);
constexpr double no_limit = 1e300;
// The ratio of `slow`'s y to `fast`'s is between `min` and `max` at every x that both have.
[[nodiscard]] Claim times_as_fast(const std::string& claim, Claim::About about, const std::string& panel,
                                  const std::string& fast, const std::string& slow, At at, double min,
                                  double max = no_limit, Better better = Better::Above);
// The series' y is between `min` and `max`.
[[nodiscard]] Claim lies_within(const std::string& claim, Claim::About about, const std::string& panel,
                                const std::string& series, At at, double min, double max,
                                Better better = Better::Neither);
// At the largest x, each series' y is less than that of the next one.
[[nodiscard]] Claim in_order(const std::string& claim, Claim::About about, const std::string& panel,
                             const std::vector<std::string>& series);
[[nodiscard]] bool is_todays(const Claim& claim);
// Restricts a claim to some x values, which `which` describes.
[[nodiscard]] Claim among(Claim claim, const std::string& which, const std::function<bool(double)>& is_one);
[[nodiscard]] Claim only_at(double x, Claim claim);
// A claim that no run can decide.
[[nodiscard]] Claim not_here(const std::string& claim, const std::string& why);

// What the measurement of a figure needs.
struct FigureSetting {
    std::optional<Context> context;
    std::string why_no_context;
    bool quick = false;
    int device = -1;     // the device that was asked for, for programs that open a context themselves; -1: none
    std::string folder;  // folder for files
    std::string nbody;   // the program of demos/nbody; empty if there is none
    template <class Value>
    [[nodiscard]] Value pick(Value small, Value large) const {
        return quick ? std::move(small) : std::move(large);
    }
};

// Shares, in %, have a linear axis.
struct FigurePanel {
    std::string name, x_label, y_label;
    Scale x_scale = Scale::Logarithmic;
    // If one plot of all series would be crowded: the title of this plot, and its series.
    std::string title{};
    std::function<bool(const std::string& series)> draws{};
    [[nodiscard]] bool has(const FigurePoint& point) const {
        return point.panel == name && (!draws || draws(point.series));
    }
};

struct Figure {
    std::string id, paper, title;
    std::string how;  // the paper's workload, ours, and the differences
    std::vector<FigurePanel> panels;
    std::function<void(FigureSetting&, FigureData&)> measure;
    std::vector<Claim> claims;
};

// All figures, by paper, in the papers' order.
[[nodiscard]] const std::vector<Figure>& figures();
[[nodiscard]] std::vector<Figure> sort_figures();      // SIGMOD'05
[[nodiscard]] std::vector<Figure> terasort_figures();  // SIGMOD'06
[[nodiscard]] std::vector<Figure> sketch_figures();    // QSketch
[[nodiscard]] std::vector<Figure> slides_figures();    // Query Processing on GPUs
[[nodiscard]] std::vector<Figure> join_figures();      // MDS'09

[[nodiscard]] std::string svg_of(const Figure& figure, const FigureData& data);

}  // namespace quadmill::detail::bench
