#include "bench/join_bench.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "bench/pass_count.hpp"
#include "bench/refusal.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {

namespace {

// The paper's numbers.
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

// The sides of a join, or a single table, and the expected result.
struct Tables {
    Table left, right;
    JoinAnswer answer;
};

// Looks up each left row for which `goes_on` is true.
template <class GoesOn>
JoinAnswer pairs_of(const std::vector<float>& left, const std::vector<float>& right, const GoesOn& goes_on) {
    std::map<float, std::vector<std::uint64_t>> positions;
    for (std::size_t row = 0; row < right.size(); ++row) positions[right[row]].push_back(row);
    JoinAnswer answer;
    for (std::size_t row = 0; row < left.size(); ++row) {
        const auto found = positions.find(left[row]);
        if (found == positions.end() || !goes_on(row)) continue;
        for (const auto partner : found->second) answer.pairs.push_back({row, partner});
    }
    return answer;
}

Tables joined_by_key(const std::vector<float>& left, const std::vector<float>& right) {
    return {Table().add("k", left), Table().add("k", right),
            pairs_of(left, right, [](std::size_t /*row*/) { return true; })};
}

double middle_of(std::size_t rows) {
    const auto middle = rows / 2;
    return static_cast<double>(middle) / 8;
}

Tables values_to_compare(std::size_t rows) {
    std::vector<float> values(rows);
    for (std::size_t i = 0; const auto index : shuffled(rows, seed)) values[i++] = static_cast<float>(index) / 8;
    JoinAnswer answer;
    answer.bits.resize((rows + 31) / 32);
    for (std::size_t row = 0; row < rows; ++row) {
        if (values[row] > middle_of(rows)) answer.bits[row / 32] |= std::uint32_t{1} << row % 32;
    }
    return {Table().add("c", values), {}, std::move(answer)};
}

// Tables in which that percentage of the left rows have one partner each.
Tables matching(std::size_t rows, std::size_t percent) {
    std::vector<float> left(rows), right(rows);
    const auto partners = rows * percent / 100;
    const auto positions = shuffled(rows, seed);
    for (std::size_t i = 0; i < rows; ++i) {
        left[i] = static_cast<float>(i) / 8;
        right[positions[i]] = i < partners ? static_cast<float>(i) / 8 : -1 - static_cast<float>(i);
    }
    return joined_by_key(left, right);
}

// Each row has the same number of partners. Pre: the number divides the rows.
Tables multiple(std::size_t rows, std::size_t pairs) {
    std::vector<float> left(rows), right(rows);
    const auto distinct = rows / pairs;
    const auto positions = shuffled(rows, seed);
    for (std::size_t i = 0; i < rows; ++i) {
        left[i] = static_cast<float>(i % distinct) / 8;
        right[positions[i]] = static_cast<float>(i % distinct) / 8;
    }
    return joined_by_key(left, right);
}

// Figure 8: c > 0 leaves 7,321 rows, e > 1 keeps all 13,068 that remain.
Tables graph() {
    std::vector<float> c(graph_rows), e(graph_rows), b(graph_rows), p(graph_rows), other(graph_rows);
    const auto order = shuffled(graph_rows, seed);
    for (std::size_t index = 0; index < graph_rows; ++index) {
        const auto row = order[index];
        c[row] = index < graph_masked ? -1.5F : 2.5F;
        e[row] = index >= graph_rows - graph_after ? 1.25F : 0.5F;
        b[row] = static_cast<float>(row) / 8;
        p[row] = static_cast<float>(row);
        other[index] = -1 - static_cast<float>(index);
    }
    for (std::size_t i = 0; i < graph_pairs; ++i) other[i * 7 % graph_rows] = b[order[graph_rows - 1 - i]];
    return {Table().add("c", c).add("e", e).add("b", b).add("p", p), Table().add("b", other).add("p", p),
            pairs_of(b, other, [&](std::size_t row) { return c[row] > 0 || e[row] > 1; })};
}

Tables tables_of(const JoinCase& which) {
    switch (which.figure) {
        case JoinFigure::Greater:
            return values_to_compare(which.rows);
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

void answer(QueryProcessor& processor, const JoinCase& which, JoinBy by, const Tables& tables, JoinAnswer& found) {
    found.bits.clear();
    found.pairs.clear();
    if (which.figure == JoinFigure::Greater) {
        found.bits = processor.select(tables.left, column("c") > middle_of(which.rows)).bits();
        return;
    }
    if (which.figure == JoinFigure::Graph) {
        const QueryPlan plan({.outputs = {{std::string("left.p"), "p"}, {std::string("right.p"), "q"}},
                              .where = column("c") > 0.0 || column("e") > 1.0,
                              .join = Join{.left = "b", .right = "b", .method = method_of(by)}},
                             tables.left.columns(), tables.right.columns());
        const auto number = [](const Value& value) { return static_cast<std::uint64_t>(std::get<double>(value)); };
        const auto take = [&](std::span<const std::vector<Value>> rows) {
            for (const auto& row : rows) found.pairs.push_back({number(row[0]), number(row[1])});
        };
        static_cast<void>(processor.run(plan, tables.left, tables.right, take));
        return;
    }
    const auto take = [&](std::span<const RowPair> some) {
        found.pairs.insert(found.pairs.end(), some.begin(), some.end());
    };
    static_cast<void>(
        processor.join(tables.left, tables.right, {.left = "k", .right = "k", .method = method_of(by)}, take));
}

}  // namespace

std::size_t JoinAnswer::size() const {
    auto all = pairs.size();
    for (const auto word : bits) all += static_cast<std::size_t>(std::popcount(word));
    return all;
}

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
    if (contender.draws() && !context_) return why_no_context_;
    if (contender.by == JoinBy::OneOperation && which.figure != JoinFigure::Graph) return "there is one operation only";
    if (contender.is_rival() && which.figure == JoinFigure::Greater) return "there is no join";
    return {};
}

QueryProcessor& JoinBench::processor(std::size_t contender) {
    auto& kept = processors_[contender];
    if (kept) return *kept;
    const auto by = contenders_[contender].by;
    if (!contenders_[contender].draws()) return kept.emplace(QueryOptions{.engine = QueryEngine::Cpu});
    const auto execution = by == JoinBy::OneOperation ? Execution::OneOperation : Execution::Pipelined;
    return kept.emplace(*context_, QueryOptions{.engine = engine_, .paper = {.execution = execution}});
}

JoinBench::Run JoinBench::time(std::size_t contender, const JoinCase& which) {
    const auto tables = tables_of(which);
    auto& asked = processor(contender);
    const auto by = contenders_[contender].by;
    if (contenders_[contender].draws()) {
        const auto others = tables_of(which);  // a processor does not upload columns that it has seen again
        wake(*context_, [&] { answer(asked, which, by, others, found_); });
    }
    const cpu::Stopwatch time;
    answer(asked, which, by, tables, found_);
    const auto ms = time.ms();
    return {ms, found_ == tables.answer && found_.size() == which.result};
}

JoinCaseResult JoinBench::run(const JoinCase& which) {
    JoinCaseResult found{which, {}};
    std::vector<std::vector<double>> times(contenders_.size());
    for (const auto& contender : contenders_)
        found.results.push_back({.contender = &contender, .refusal = unfit(contender, which)});
    for (int repetition = 0; repetition <= repeat_; ++repetition) {  // the first is not counted, only for the GPU
        for (std::size_t i = 0; i < contenders_.size(); ++i) {
            auto& result = found.results[i];
            if (!result.ran() || (repetition == 0 && !contenders_[i].draws())) continue;
            result.refusal = refusal_of([&] {
                const PassCount count(context_, result.passes);
                const auto run = time(i, which);
                result.verified = result.verified && run.right;
                if (repetition > 0) times[i].push_back(run.ms);
            });
        }
    }
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        if (found.results[i].ran()) Spread(std::move(times[i])).note_in(found.results[i]);
    }
    return found;
}

}  // namespace quadmill::detail::bench
