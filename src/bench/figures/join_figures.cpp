// MDS'09: relational operators on streams by a GPU (Tsakalozos, Tsangaris, Delis).
#include <fmt/core.h>

#include <string>

#include "bench/figures/figure.hpp"
#include "bench/join_bench.hpp"

namespace quadmill::detail::bench {

namespace {

using enum Claim::About;

constexpr const char *join_ms = "ms", *bitmap_ms = "ms to a bitmap";

const char* panel_of(JoinFigure figure) {
    return figure == JoinFigure::Greater ? bitmap_ms : join_ms;
}

std::function<void(FigureSetting&, FigureData&)> measure(JoinFigure figure) {
    return [figure](FigureSetting& setting, FigureData& data) {
        std::vector<JoinContender> contenders{{"ours", JoinBy::Pipelined}, {"cpu", JoinBy::CpuLoops}};
        if (figure == JoinFigure::Graph) contenders.insert(contenders.begin() + 1, {"one-op", JoinBy::OneOperation});
        if (figure != JoinFigure::Greater) {
            contenders.push_back({"merge", JoinBy::Merge});
            contenders.push_back({"cpu merge", JoinBy::CpuMerge});
        }
        const int max = figure == JoinFigure::Graph ? 15 : 5;  // two ways to run it differ by a few percent
        JoinBench bench(setting.context, setting.why_no_context, std::move(contenders), QueryEngine::Bitmap,
                        setting.pick(2, max));
        for (const auto& which : join_cases({figure})) {
            const double x =
                figure == JoinFigure::Graph ? static_cast<double>(which.rows) : static_cast<double>(which.x);
            for (const auto& result : bench.run(which).results) {
                data.add_time(panel_of(figure), x, result, "wrong rows or pairs");
                if (result.ran() && result.contender->by == JoinBy::Merge) data.points.back().whose = Whose::Ours;
            }
        }
    };
}

Claim advantage_diminishes() {
    return {"the CPU has a small advantage, which diminishes with the amount of data",
            "ms to a bitmap: ours over cpu is from 1 to 2 at 15,000 values, and less at 165,000 than at 15,000",
            [](const FigureData& data) -> Verdict {
                const auto xs = data.xs(bitmap_ms, "ours", "cpu");
                if (xs.empty()) return {Verdict::Kind::NotHere, "", "no numbers of ours or cpu"};
                const auto ratio = [&](double x) {
                    return *data.y(bitmap_ms, "ours", x) / *data.y(bitmap_ms, "cpu", x);
                };
                const double first = ratio(xs.front()), last = ratio(xs.back());
                return {first > 1 && first <= 2 && last < first ? Verdict::Kind::Holds : Verdict::Kind::Fails,
                        fmt::format("{} times, then {}", spoken(first), spoken(last))};
            },
            Gpu};
}

Claim lead_shrinks(const std::string& claim) {
    return {claim, "ms: cpu over ours at the largest x is at most 0.9 times that at the smallest",
            [](const FigureData& data) -> Verdict {
                const auto xs = data.xs(join_ms, "ours", "cpu");
                if (xs.empty()) return {Verdict::Kind::NotHere, "", "no numbers of ours or cpu"};
                const auto lead = [&](double x) {
                    return ratio(*data.range(join_ms, "cpu", x), *data.range(join_ms, "ours", x));
                };
                const auto first = lead(xs.front()), last = lead(xs.back());
                return {kind_of(ratio(last, first), 0, slack, Better::Below),
                        fmt::format("{} times, then {}", spoken(first.y), spoken(last.y))};
            },
            Gpu};
}

Claim loops_beat_sorting() {
    return because(times_as_fast("today: nested loops beat a sort-merge join on the CPU", Anything, join_ms, "ours",
                                 "cpu merge", At::Every, 1),
                   "loops compare at least 81 M pairs, sorting makes some 120,000 comparisons per side");
}

Figure figure(const std::string& id, const std::string& title, const std::string& how, const std::string& axis,
              JoinFigure which, std::vector<Claim> claims) {
    return {id,
            "MDS'09",
            title,
            how + "; from columns in memory to the result in memory" +
                (which == JoinFigure::Greater ? ", one bit per value" : "") + "; cpu is nested loops on one thread",
            {{panel_of(which), axis, "ms", Scale::Linear}},
            measure(which),
            std::move(claims)};
}

}  // namespace

std::vector<Figure> join_figures() {
    return {
        figure("mds09-fig5", "Fig. 5: the predicate 'greater than'", "15,000 to 165,000 floats, as in the paper",
               "values", JoinFigure::Greater,
               {because(advantage_diminishes(),
                        "today's CPU compares 15,000 values in less time than a GPU takes to begin")}),
        figure("mds09-fig6", "Fig. 6: nested-loop join, 0 to 100 % of elements match", "9,000 floats, as in the paper",
               "% that match", JoinFigure::Matching,
               {times_as_fast("the GPU wins if selectivity is low", Gpu, join_ms, "ours", "cpu", At::Smallest, 1),
                lead_shrinks("the advantage of the GPU is smaller if more elements match"), loops_beat_sorting()}),
        figure(
            "mds09-fig7", "Fig. 7: nested-loop join, 1 to 20 pairs per element", "9,000 floats, as in the paper",
            "pairs an element", JoinFigure::Multiple,
            {lead_shrinks("the more pairs there are, the more the transfer of the output costs the GPU its advantage"),
             loops_beat_sorting()}),
        figure("mds09-fig8-9", "Fig. 8 and 9: the graph (C > D0 or E > D1) joined on B",
               "15,000 floats, 7,679 masked out by the first predicate, 13,068 after OR, 6,790 pairs, as in the paper",
               "values", JoinFigure::Graph,
               {in_order("the framework is faster than one operation at a time, which is faster than the CPU", Gpu,
                         join_ms, {"ours", "one-op", "cpu"}),
                loops_beat_sorting()})};
}

}  // namespace quadmill::detail::bench
