#include "bench/join_bench.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {

namespace {

// The numbers of the paper.
constexpr std::size_t join_rows = 9000, graph_rows = 15000, graph_masked = 7679, graph_after = 13068,
                      graph_pairs = 6790;
constexpr std::uint64_t seed = 9;

std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t from) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(from);
    std::ranges::shuffle(order, random);
    return order;
}

// The sides of a join, or the one table.
struct Tables {
    Table left, right;
};

std::vector<float> values_to_compare(std::size_t rows) {
    std::vector<float> values(rows);
    for (std::size_t i = 0; const auto place : shuffled(rows, seed)) values[i++] = static_cast<float>(place) / 8;
    return values;
}

// Tables where so many percent of the left rows have one partner each.
Tables matching(std::size_t rows, std::size_t percent) {
    std::vector<float> left(rows), right(rows);
    const auto partners = rows * percent / 100;
    const auto places = shuffled(rows, seed);
    for (std::size_t i = 0; i < rows; ++i) {
        left[i] = static_cast<float>(i) / 8;
        right[places[i]] = i < partners ? static_cast<float>(i) / 8 : -1 - static_cast<float>(i);
    }
    return {Table().add("k", left), Table().add("k", right)};
}

// Each row has so many partners. Pre: that divides the rows.
Tables multiple(std::size_t rows, std::size_t pairs) {
    std::vector<float> left(rows), right(rows);
    const auto distinct = rows / pairs;
    const auto places = shuffled(rows, seed);
    for (std::size_t i = 0; i < rows; ++i) {
        left[i] = static_cast<float>(i % distinct) / 8;
        right[places[i]] = static_cast<float>(i % distinct) / 8;
    }
    return {Table().add("k", left), Table().add("k", right)};
}

// Figure 8: c > 0 leaves 7,321 rows, e > 1 all 13,068 that go on.
Tables graph() {
    std::vector<float> c(graph_rows), e(graph_rows), b(graph_rows), p(graph_rows), other(graph_rows);
    const auto order = shuffled(graph_rows, seed);
    for (std::size_t place = 0; place < graph_rows; ++place) {
        const auto row = order[place];
        c[row] = place < graph_masked ? -1.5F : 2.5F;
        e[row] = place >= graph_rows - graph_after ? 1.25F : 0.5F;
        b[row] = static_cast<float>(row) / 8;
        p[row] = static_cast<float>(row);
        other[place] = -1 - static_cast<float>(place);
    }
    for (std::size_t i = 0; i < graph_pairs; ++i) other[i * 7 % graph_rows] = b[order[graph_rows - 1 - i]];
    return {Table().add("c", c).add("e", e).add("b", b).add("p", p), Table().add("b", other).add("p", p)};
}

Tables tables_of(const JoinCase& which) {
    switch (which.figure) {
        case JoinFigure::Greater:
            return {Table().add("c", values_to_compare(which.rows)), {}};
        case JoinFigure::Matching:
            return matching(which.rows, which.x);
        case JoinFigure::Multiple:
            return multiple(which.rows, which.x);
        case JoinFigure::Graph:
            break;
    }
    return graph();
}

JoinMethod method_of(JoinBy by) {
    return by >= JoinBy::Merge ? JoinMethod::SortMerge : JoinMethod::NestedLoops;
}

bool on_gpu(JoinBy by) {
    return by == JoinBy::Pipelined || by == JoinBy::OneOperation || by == JoinBy::Merge;
}

// How many rows or pairs there are.
std::uint64_t answer(QueryProcessor& processor, const JoinCase& which, JoinBy by, const Tables& tables) {
    if (which.figure == JoinFigure::Greater) {
        const auto middle = static_cast<double>(which.rows / 2) / 8;
        return processor.select(tables.left, column("c") > middle).rows().size();
    }
    std::uint64_t pairs = 0;
    if (which.figure == JoinFigure::Graph) {
        const QueryPlan plan({.outputs = {{std::string("left.p"), "p"}, {std::string("right.p"), "q"}},
                              .where = column("c") > 0.0 || column("e") > 1.0,
                              .join = Join{.left = "b", .right = "b", .method = method_of(by)}},
                             tables.left.columns(), tables.right.columns());
        static_cast<void>(processor.run(plan, tables.left, tables.right,
                                        [&](std::span<const std::vector<Value>> rows) { pairs += rows.size(); }));
        return pairs;
    }
    static_cast<void>(processor.join(tables.left, tables.right, {.left = "k", .right = "k", .method = method_of(by)},
                                     [&](std::span<const RowPair> some) { pairs += some.size(); }));
    return pairs;
}

}  // namespace

std::vector<JoinCase> join_cases(const std::vector<JoinFigure>& figures) {
    std::vector<JoinCase> all;
    const auto wanted = [&](JoinFigure figure) { return std::ranges::find(figures, figure) != figures.end(); };
    constexpr std::size_t first = 15000, step = 30000, last = 165000;
    for (auto n = first; n <= last && wanted(JoinFigure::Greater); n += step)
        all.push_back({JoinFigure::Greater, n, n, n - 1 - n / 2});
    for (std::size_t percent = 0; percent <= 100 && wanted(JoinFigure::Matching); percent += 25)
        all.push_back({JoinFigure::Matching, join_rows, percent, join_rows * percent / 100});
    for (const std::size_t pairs : {1U, 5U, 10U, 15U, 20U}) {
        if (wanted(JoinFigure::Multiple))
            all.push_back({JoinFigure::Multiple, join_rows, pairs, std::uint64_t{join_rows} * pairs});
    }
    if (wanted(JoinFigure::Graph)) all.push_back({JoinFigure::Graph, graph_rows, 0, graph_pairs});
    return all;
}

JoinBench::JoinBench(std::optional<Context> context, std::string why_no_context, std::vector<JoinContender> contenders,
                     QueryEngine engine, int repeat)
    : context_(std::move(context)),
      why_no_context_(std::move(why_no_context)),
      contenders_(std::move(contenders)),
      engine_(engine),
      repeat_(repeat),
      processors_(contenders_.size()) {}

std::string JoinBench::unfit(const JoinContender& contender, const JoinCase& which) const {
    if (on_gpu(contender.by) && !context_) return why_no_context_;
    if (contender.by == JoinBy::OneOperation && which.figure != JoinFigure::Graph) return "there is one operation only";
    if (contender.is_rival() && which.figure == JoinFigure::Greater) return "there is no join";
    return {};
}

QueryProcessor& JoinBench::processor(std::size_t contender) {
    auto& kept = processors_[contender];
    if (kept) return *kept;
    const auto by = contenders_[contender].by;
    if (!on_gpu(by)) return kept.emplace(QueryOptions{.engine = QueryEngine::Cpu});
    const auto execution = by == JoinBy::OneOperation ? Execution::OneOperation : Execution::Pipelined;
    return kept.emplace(*context_, QueryOptions{.engine = engine_, .execution = execution});
}

std::optional<double> JoinBench::time(std::size_t contender, const JoinCase& which) {
    const auto tables = tables_of(which);
    auto& by = processor(contender);
    if (on_gpu(contenders_[contender].by))
        wake(*context_, [&] { static_cast<void>(answer(by, which, contenders_[contender].by, tables)); });
    const cpu::Stopwatch time;
    const auto found = answer(by, which, contenders_[contender].by, tables);
    const auto ms = time.ms();
    return found == which.result ? std::optional(ms) : std::nullopt;
}

JoinCaseResult JoinBench::run(const JoinCase& which) {
    JoinCaseResult found{which, {}};
    std::vector<std::vector<double>> times(contenders_.size());
    for (std::size_t i = 0; i < contenders_.size(); ++i)
        found.results.push_back({.contender = &contenders_[i], .refusal = unfit(contenders_[i], which)});
    for (int repetition = 0; repetition <= repeat_; ++repetition) {  // the first is not counted, and for the GPU alone
        for (std::size_t i = 0; i < contenders_.size(); ++i) {
            auto& result = found.results[i];
            if (!result.ran() || (repetition == 0 && !on_gpu(contenders_[i].by))) continue;
            const auto ms = time(i, which);
            result.verified = result.verified && ms;
            if (repetition > 0 && ms) times[i].push_back(*ms);
        }
    }
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        if (times[i].empty()) continue;
        Spread(std::move(times[i])).note_in(found.results[i]);
    }
    return found;
}

}  // namespace quadmill::detail::bench
