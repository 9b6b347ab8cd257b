// Figures of the papers, measured again: the numbers of one, and claims that a rule judges from these numbers alone.
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

// The content of a figure's CSV. Words are one line each.
class FigureData {
  public:
    // The program, date and machine of the measurement: names and words, in the order of the CSV's head.
    std::vector<std::pair<std::string, std::string>> facts;
    std::vector<FigurePoint> points;
    // The reason why a series is missing, or its error.
    std::vector<std::pair<std::string, std::string>> missing, wrong;

    void add(const std::string& panel, Whose whose, const std::string& series, double x, double y) {
        points.push_back({panel, whose, series, x, y, y, y});
    }
    // A bench's result for a contender: its time, or the reason for none, and an error. Throws Error if its passes
    // should have sorted or answered, and it drew none.
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
    // Throws Error without passes: that series would compare the CPU with itself.
    static void must_have_drawn(const std::string& series, double x, std::uint64_t passes);
    void note_missing(const std::string& series, const std::string& why);
    void note_wrong(const std::string& series, const std::string& what) { wrong.emplace_back(series, what); }
    [[nodiscard]] std::string fact(const std::string& name) const;
    // Whether passes ran on the CPU, so that claims about GPUs cannot be judged.
    [[nodiscard]] bool on_software() const { return fact("software renderer") == "yes"; }
    // The median of a point, with its lowest and highest value.
    struct Range {
        double y, low, high;
    };
    [[nodiscard]] std::optional<Range> range(const std::string& panel, const std::string& series, double x) const;
    [[nodiscard]] std::optional<double> y(const std::string& panel, const std::string& series, double x) const;
    // Ascending.
    [[nodiscard]] std::vector<double> xs(const std::string& panel, const std::string& series) const;
    // The x that both have.
    [[nodiscard]] std::vector<double> xs(const std::string& panel, const std::string& a, const std::string& b) const;

    // Throws Error if the text is not a CSV of a figure.
    [[nodiscard]] static FigureData from_csv(const std::string& text);
    [[nodiscard]] std::string csv() const;
};

// Three significant digits, those before the point in groups: 0.270, 1.00, 1,090.
[[nodiscard]] std::string spoken(double value);
// A position on the x axis: 165,000, or 2^23 for powers of two.
[[nodiscard]] std::string spoken_place(double x);

struct Verdict {
    enum class Kind {
        Holds,
        Exceeds,  // does not hold, since what was measured is better than what the paper claims
        Fails,    // does not hold
        Noisy,    // the runs lie on both sides of a bound
        Unlike,   // measured, but not as the paper did
        NotHere   // not measured
    } kind;
    std::string ours;   // the numbers that decided
    std::string why{};  // of all but Holds and Noisy
};
[[nodiscard]] const char* word_for(Verdict::Kind kind);
inline constexpr const char* no_gpu = "no GPU";  // how the `why` begins of a claim about GPUs, measured without one

struct Claim {
    std::string claim;  // as the paper has it, with its numbers; what begins with "today" is ours
    std::string rule;   // when it holds
    std::function<Verdict(const FigureData&)> judge;
    // A claim about a GPU, which a software renderer cannot decide; its numbers are given nevertheless.
    enum class About { Anything, Gpu } about = About::Anything;
    std::string because{};  // why it does not hold, or is exceeded
    std::string unlike{};   // how the measurement differs from the paper's; then nothing is decided
};
[[nodiscard]] Claim because(Claim claim, const std::string& reason);
[[nodiscard]] Claim unlike(Claim claim, const std::string& difference);

// The one rule of slack: a number of the paper is met from 90 % of it on, or within 10 % if it can be missed on both
// sides; 'comparable' is within a factor of two; 'faster' is above 1. The one rule of spread: the slowest and the
// fastest run must be on one side of a bound, otherwise the result is too noisy.
constexpr double slack = 0.9;
// Judged by its rule; undecided if numbers are missing, or a claim about GPUs was measured without one. A wrong answer
// is a failure.
[[nodiscard]] Verdict judge(const Claim& claim, const FigureData& data);

// Rules, each with its own words. Times are milliseconds: the less, the better.
enum class At { Smallest, Largest, Every };
// The side of the bounds on which a claim is exceeded, not missed.
enum class Better { Above, Below, Neither };
// Compares a range with bounds.
[[nodiscard]] Verdict::Kind kind_of(const FigureData::Range& range, double least, double most, Better better);
[[nodiscard]] FigureData::Range ratio(const FigureData::Range& over, const FigureData::Range& under);
constexpr double no_limit = 1e300;
// `slow`'s y over `fast`'s is from `least` to `most`, at the x that both have.
[[nodiscard]] Claim times_as_fast(const std::string& claim, Claim::About about, const std::string& panel,
                                  const std::string& fast, const std::string& slow, At at, double least,
                                  double most = no_limit, Better better = Better::Above);
// The series' y is from `least` to `most`.
[[nodiscard]] Claim lies_within(const std::string& claim, Claim::About about, const std::string& panel,
                                const std::string& series, At at, double least, double most,
                                Better better = Better::Neither);
// Each series' y at the largest x is less than that of the one after it.
[[nodiscard]] Claim in_order(const std::string& claim, Claim::About about, const std::string& panel,
                             const std::vector<std::string>& series);
[[nodiscard]] bool is_todays(const Claim& claim);
// At those x alone, in words for the rule.
[[nodiscard]] Claim among(Claim claim, const std::string& which, const std::function<bool(double)>& is_one);
[[nodiscard]] Claim only_at(double x, Claim claim);
// No run can decide it.
[[nodiscard]] Claim not_here(const std::string& claim, const std::string& why);

// The tools of a figure's measurement.
struct FigureSetting {
    std::optional<Context> context;
    std::string why_no_context;
    bool quick = false;
    int device = -1;     // that was asked for, for programs that open a context of their own; -1 for none
    std::string folder;  // for files
    std::string nbody;   // the program of demos/nbody; empty: there is none
    template <class Value>
    [[nodiscard]] Value pick(Value small, Value large) const {
        return quick ? std::move(small) : std::move(large);
    }
};

// Shares, in %, are drawn on a linear axis.
struct FigurePanel {
    std::string name, x_label, y_label;
    Scale x_scale = Scale::Logarithmic;
    // If one drawing of all series would be crowded: the title of this one, and its series.
    std::string title{};
    std::function<bool(const std::string& series)> draws{};
    [[nodiscard]] bool has(const FigurePoint& point) const {
        return point.panel == name && (!draws || draws(point.series));
    }
};

struct Figure {
    std::string id, paper, title;
    std::string how;  // the paper's workload, ours, and what differs
    std::vector<FigurePanel> panels;
    std::function<void(FigureSetting&, FigureData&)> measure;
    std::vector<Claim> claims;
};

// By paper, in the papers' order.
[[nodiscard]] const std::vector<Figure>& figures();
[[nodiscard]] std::vector<Figure> sort_figures();      // SIGMOD'05
[[nodiscard]] std::vector<Figure> terasort_figures();  // SIGMOD'06
[[nodiscard]] std::vector<Figure> sketch_figures();    // QSketch
[[nodiscard]] std::vector<Figure> slides_figures();    // Query Processing on GPUs
[[nodiscard]] std::vector<Figure> join_figures();      // MDS'09

[[nodiscard]] std::string svg_of(const Figure& figure, const FigureData& data);

}  // namespace quadmill::detail::bench
