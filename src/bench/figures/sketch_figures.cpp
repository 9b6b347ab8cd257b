// QSketch: count-min sketches with one memory access.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "bench/figures/figure.hpp"
#include "bench/sketch_bench.hpp"

namespace quadmill::detail::bench {

namespace {

using enum Claim::About;

constexpr const char *inserts = "inserts, ns each", *queries = "queries, ns each", *errors = "mean error, %";

constexpr const char* by_points_alike =
    "each counter is a separate point; neighbouring counters of a key save accesses in CUDA, but no points";
constexpr unsigned papers_power = 27;  // log2 of the paper's number of operations

// The names of kinds in series and claims.
const std::vector<std::pair<SketchKind, std::string>> kinds{
    {SketchKind::Thread, "thread"},   {SketchKind::Warp, "warp"}, {SketchKind::Half, "half"},
    {SketchKind::Quarter, "quarter"}, {SketchKind::Msws, "msws"}, {SketchKind::Sf, "sf"}};

// The name for inserts as in the paper: each counter of a key is a point.
std::string by_points(const std::string& name) {
    return name + ", a point a counter";
}
std::string on_cpu(const std::string& name) {
    return name + ", cpu";
}

// A panel of the series whose names end like that, or, for an empty end, with none of these.
FigurePanel rates_panel(const std::string& panel, const std::string& title, const std::string& end) {
    const auto draws = [end](const std::string& series) {
        return end.empty() ? !series.ends_with(by_points("")) && !series.ends_with(on_cpu("")) : series.ends_with(end);
    };
    return {panel, "operations", "ns", Scale::Logarithmic, title, draws};
}

// Adds nanoseconds per operation: with the fastest engine, with points, and on the CPU.
void add_rates(FigureData& data, const std::string& panel, const std::string& name, const SketchCaseResult& found,
               SketchTimes SketchResult::*times) {
    const auto x = static_cast<double>(found.which.n);
    double best = 0;
    for (const auto& result : found.results) {
        const double each = (result.*times).ms * 1e6 / x;
        if (!result.ran() || each <= 0) continue;
        if (result.contender->is_rival()) {
            data.add(panel, Whose::Baseline, on_cpu(name), x, each);
            continue;
        }
        best = best > 0 ? std::min(best, each) : each;
        if (result.contender->engine == SketchEngine::BlendCounters && times == &SketchResult::insert)
            data.add(panel, Whose::Ours, by_points(name), x, each);
    }
    if (best > 0) data.add(panel, Whose::Ours, name, x, best);
}

void measure_rates(FigureSetting& setting, FigureData& data) {
    std::vector<SketchContender> contenders{
        {"points", SketchEngine::BlendCounters}, {"packed", SketchEngine::BlendPacked}, {"sort", SketchEngine::Sort}};
    SketchBench on_gpu(setting.context, setting.why_no_context, contenders, 1);
    contenders.push_back({"auto", SketchEngine::Auto});
    contenders.push_back({"cpu", SketchEngine::Cpu, 0});
    SketchBench with_cpu(setting.context, setting.why_no_context, std::move(contenders), 3);
    const auto is_published = [](SketchKind kind) {
        return std::ranges::find(paper_rates(), kind, &PaperRate::kind) != paper_rates().end();
    };
    using Powers = std::vector<unsigned>;
    for (const auto power : setting.pick(Powers{15, 17}, Powers{18, 21, 24, papers_power})) {
        auto& bench = power == papers_power ? on_gpu : with_cpu;
        for (const auto& [kind, name] : kinds) {
            if (power == papers_power && !is_published(kind)) continue;
            const auto found = bench.run({kind, std::size_t{1} << power, 0.5, cpu::Distribution::Uniform});
            for (const auto& result : found.results) {
                const auto who = name + ", " + result.contender->name;
                if (!result.ran()) data.note_missing(who, result.refusal);
                if (result.ran() && result.contender->draws())
                    data.must_have_drawn(who, static_cast<double>(found.which.n), result.passes);
                if (!result.verified) data.note_wrong(who, "a table or an estimate was wrong");
            }
            add_rates(data, inserts, name, found, &SketchResult::insert);
            add_rates(data, queries, name, found, &SketchResult::query);
        }
    }
    constexpr double paper_n = std::size_t{1} << papers_power;
    for (const auto& rate : paper_rates()) {
        const auto name = std::ranges::find(kinds, rate.kind, &std::pair<SketchKind, std::string>::first)->second;
        data.add(inserts, Whose::Paper, name + ", 2080 Ti", paper_n, 1e3 / rate.insert_2080ti);
        data.add(queries, Whose::Paper, name + ", 2080 Ti", paper_n, 1e3 / rate.query_2080ti);
    }
}

void measure_accuracy(FigureSetting& setting, FigureData& data) {
    const auto width = std::size_t{1} << setting.pick(17U, 18U);
    for (const auto& one : SketchBench::accuracy({0.25, 0.5, 0.75, 1, 1.5, 2}, width)) {
        data.add(errors, Whose::Ours, one.name, one.load, one.percent);
        if (one.paper_percent) data.add(errors, Whose::Paper, one.name + ", paper", one.load, *one.paper_percent);
    }
}

// Compares the accuracy with that of the thread sketch, at a load factor.
Claim accuracy(const std::string& name, double load, double times) {
    auto claim = times_as_fast(
        fmt::format("{}: {:.2f} times the accuracy of the thread sketch at a load of {:.2f}", name, times, load),
        Anything, errors, name, "thread", At::Every, 0.9 * times, 1.1 * times);
    claim = only_at(load, std::move(claim));
    claim.rule = fmt::format("mean error, %: thread over {} at that load is within 10 %", name);
    return claim;
}

// A rate in millions per second, for a figure that has nanoseconds per operation.
Claim rate(double millions, const std::string& what, const std::string& panel) {
    auto claim = lies_within(fmt::format("{:.0f} M {} per second with quarter (2080 Ti)", millions, what), Gpu, panel,
                             "quarter", At::Largest, 0, 1e3 / (millions * slack), Better::Below);
    claim.rule = fmt::format("{}: 1,000 over quarter is at least {:.0f}, at the largest x", panel, millions * slack);
    claim.judge = [panel, judge = claim.judge](const FigureData& data) {
        auto found = judge(data);
        const auto xs = data.xs(panel, "quarter");
        if (!xs.empty())
            found.ours = fmt::format("{} M/s at x = {}", spoken(1e3 / *data.y(panel, "quarter", xs.back())),
                                     spoken_place(xs.back()));
        return found;
    };
    return claim;
}

}  // namespace

std::vector<Figure> sketch_figures() {
    std::vector<Claim> ours;
    for (const auto* name : {"thread", "warp", "half", "quarter", "msws"}) {
        auto claim = times_as_fast(std::string("the published error of ") + name + " at loads of 0.5 and 1", Anything,
                                   errors, name, std::string(name) + ", paper", At::Every, 0.9, 1.1);
        claim.rule = std::string("mean error, %: the paper's over ") + name + " is from 0.9 to 1.1 at both";
        claim.judge = [name = std::string(name)](const FigureData& data) {
            auto same = data;  // so that both series have points with the same loads
            std::erase_if(same.points, [&](const FigurePoint& p) {
                return p.series == name && !data.y(errors, name + ", paper", p.x);
            });
            return times_as_fast("", Anything, errors, name, name + ", paper", At::Every, 0.9, 1.1).judge(same);
        };
        ours.push_back(std::move(claim));
    }
    for (const auto& [name, half, one] :
         {std::tuple{"msws", 9.48, 10.5}, std::tuple{"sf-3", 3.91, 3.64}, std::tuple{"sf-8", 12.5, 13.43}}) {
        const std::string why = name == std::string("sf-8") ? "the paper's sub-counter is key * seed modulo z, whose "
                                                              "low bits depend only on the key (docs/errata.md)"
                                                            : "";
        ours.push_back(because(accuracy(name, 0.5, half), why));
        ours.push_back(because(accuracy(name, 1, one), why));
    }
    return {
        {"qsketch-fig5-6",
         "QSketch",
         "Fig. 5 and 6: inserts and queries",
         "paper: 2^27 operations on uniform keys; here 2^15 and 2^17 (--quick), else 2^18 to 2^24, and 2^27 on the GPU "
         "for the kinds whose rates the paper prints; the load is 0.5 (keys over the width of a row, as in the paper's "
         "data); keys are in a texture, for the CPU in memory; each kind has its fastest engine, or a point per "
         "counter, as the paper fills it; the paper's rates are those of CUDA on a 2080 Ti",
         {rates_panel(inserts, "inserts by the fastest engine, ns each", ""),
          rates_panel(inserts, "inserts by points, ns each", by_points("")),
          rates_panel(inserts, "inserts by the CPU, ns each", on_cpu("")),
          rates_panel(queries, "queries by the GPU, ns each", ""),
          rates_panel(queries, "queries by the CPU, ns each", on_cpu(""))},
         measure_rates,
         {times_as_fast("quarter inserts 3 times as fast as the thread sketch", Gpu, inserts, "quarter",
                        by_points("thread"), At::Largest, 3 * slack),
          because(times_as_fast("quarter inserts 3 times as fast, both with points", Gpu, inserts, by_points("quarter"),
                                by_points("thread"), At::Largest, 3 * slack),
                  by_points_alike),
          because(times_as_fast("quarter inserts 3 times as fast, each with its fastest engine", Gpu, inserts,
                                "quarter", "thread", At::Largest, 3 * slack),
                  "here the thread sketch is also filled by sorting, which needs no scattered access"),
          times_as_fast("quarter answers twice as fast", Gpu, queries, "quarter", "thread", At::Largest, 2 * slack),
          times_as_fast("the warp sketch inserts 1.6 to 3 times as fast", Gpu, inserts, "warp", by_points("thread"),
                        At::Largest, 1.6 * slack),
          because(times_as_fast("the warp sketch inserts 1.6 times as fast, both with points", Gpu, inserts,
                                by_points("warp"), by_points("thread"), At::Largest, 1.6 * slack),
                  by_points_alike),
          times_as_fast("the warp sketch inserts 1.6 times as fast, each with its fastest engine", Gpu, inserts, "warp",
                        "thread", At::Largest, 1.6 * slack),
          because(
              times_as_fast("the warp sketch answers 1.15 times as fast", Gpu, queries, "warp", "thread", At::Largest,
                            1.15 * slack),
              "three counters of a bucket of 32 are in three texels and take three fetches, as do those of three rows"),
          because(
              times_as_fast("msws inserts 2.9 times as fast (1142 over 396 M/s, 2080 Ti)", Gpu, inserts, "msws",
                            by_points("thread"), At::Largest, 2.9 * slack),
              "msws can only be filled with points, as the thread sketch here; the other kinds are filled by sorting"),
          because(times_as_fast("msws answers 2.46 times as fast (2414 over 982 M/s, 2080 Ti)", Gpu, queries, "msws",
                                "thread", At::Largest, 2.46 * slack),
                  "it reads the index of a bucket and its counters"),
          because(times_as_fast("sf answers as fast as quarter", Gpu, queries, "sf", "quarter", At::Largest, slack),
                  "measured when a bucket of the slim table had counters of 32 bits in two texels; now it has 16 bits "
                  "in one texel, as quarter has"),
          not_here("skewed keys are faster",
                   "this figure has uniform keys; docs/bench/h200-sketch.json has equal ones"),
          not_here("locks cost 5 to 15 %", "passes have no locks"),
          times_as_fast("today: quarter's inserts beat the thread sketch on all cores of the CPU", Gpu, inserts,
                        "quarter", on_cpu("thread"), At::Largest, 1),
          because(rate(1146, "inserts", inserts),
                  "CUDA's atomics use the whole chip; only some four of the 132 multiprocessors of an H100 draw"),
          because(rate(2417, "queries", queries), "only some four of the 132 multiprocessors of an H100 draw")}},
        {"qsketch-fig7",
         "QSketch",
         "Fig. 7 and the accuracy table: mean relative errors",
         "uniform keys, depth 3, equal memory; width 2^17 (--quick) or 2^18; on the CPU, where the tables are the "
         "same; the load is keys over the width of a row; by the paper's definition it would be a third of that",
         {{errors, "load", "%", Scale::Linear}},
         measure_accuracy,
         std::move(ours)}};
}

}  // namespace quadmill::detail::bench
