// 'Query Processing on GPUs': the slides' plots of queries, LU and N-body.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bench/cache.hpp"
#include "bench/figures/figure.hpp"
#include "bench/linalg_bench.hpp"
#include "bench/pass_count.hpp"
#include "bench/query_bench.hpp"
#include "input/program.hpp"

namespace quadmill::detail::bench {

namespace {

using enum Claim::About;

constexpr const char* slides = "Query Processing on GPUs";
constexpr const char *scan = "plain scan", *all_scan = "plain scan, all threads";

std::function<void(FigureSetting&, FigureData&)> measure_queries(QueryKind kind) {
    return [kind](FigureSetting& setting, FigureData& data) {
        std::vector<QueryContender> contenders{{"depth", QueryBy::Depth},
                                               {"bitmap", QueryBy::Bitmap},
                                               {"cpu", QueryBy::Cpu},
                                               {scan, QueryBy::Scan},
                                               {all_scan, QueryBy::ScanAllThreads}};
        if (kind == QueryKind::Median || kind == QueryKind::Kth)
            contenders.push_back({"std::nth_element", QueryBy::NthElement});
        QueryBench bench(setting.context, setting.why_no_context, std::move(contenders), {.repeat = 3});
        using Powers = std::vector<unsigned>;
        for (const auto power : setting.pick(Powers{16, 18, 20}, Powers{20, 24})) {
            const auto n = std::size_t{1} << power;
            static_cast<void>(bench.run(n, {kind}, [&](const QueryCaseResult& found) {
                for (const auto& result : found.results) {
                    data.add_time(found.which.name, static_cast<double>(n), result,
                                  found.which.name + ": wrong answer");
                }
            }));
        }
    };
}

Figure query_figure(const std::string& id, const std::string& title, QueryKind kind, std::vector<Claim> claims) {
    std::vector<FigurePanel> panels;
    for (const auto& one : query_cases({kind}, 1)) panels.push_back({one.name, "rows", "ms"});
    return {"slides-" + id,
            slides,
            title,
            "2^16 to 2^20 rows with --quick, else 2^20 and 2^24 (slides: 1 M); columns are loaded; depth is the method "
            "of the slides, bitmap is ours; the slides' CPU is a Xeon of 2.8 GHz with SIMD, ours a plain scan",
            std::move(panels),
            measure_queries(kind),
            std::move(claims)};
}

constexpr std::array<std::pair<Pivot, const char*>, 3> pivots{
    {{Pivot::Diagonal, "no pivoting"}, {Pivot::Partial, "partial pivoting"}, {Pivot::Full, "full pivoting"}}};

void measure_lu(FigureSetting& setting, FigureData& data) {
    std::vector<LuContender> contenders{
        {"a row a pass", {.pivot = Pivot::Diagonal, .block = 1}},
        {"32 rows", {.pivot = Pivot::Diagonal, .block = 32}},
        {"a row a pass", {.pivot = Pivot::Partial, .swap = Swap::Copy, .block = 1}},
        {"a row a pass, pointers", {.pivot = Pivot::Partial, .swap = Swap::Pointer, .block = 1}},
        {"32 rows", {.pivot = Pivot::Partial, .block = 32}},
        {"a row a pass", {.pivot = Pivot::Full, .swap = Swap::Copy}},
        {"a row a pass, pointers", {.pivot = Pivot::Full, .swap = Swap::Pointer}}};
    for (const auto& rival : lu_rivals()) {
        if (rival.factor) {
            contenders.push_back({rival.name, {}, &rival});
        } else {
            data.note_missing(rival.name, std::string("this command was built without it; install ") + rival.package);
        }
    }
    LinalgBench bench(setting.context, setting.why_no_context, std::move(contenders), setting.pick(2, 3));
    using Sizes = std::vector<std::size_t>;
    for (const auto n : setting.pick(Sizes{64, 128, 256}, Sizes{512, 1024, 2048, 3500})) {
        for (const auto& [pivot, panel] : pivots) {
            if (pivot == Pivot::Full && n > 2048) continue;  // the CPU takes half a minute for each
            const auto found = bench.run(n, pivot);
            for (const auto& result : found.results) {
                data.add_time(panel, static_cast<double>(n), result,
                              std::string(panel) + ": the residual is too large");
            }
        }
    }
}

std::vector<Claim> lu_claims() {
    std::vector<Claim> all;
    for (const auto& [pivot, panel] : pivots) {
        const bool full = pivot == Pivot::Full;
        for (const auto& rival : lu_rivals()) {
            if ((rival.pivot == Pivot::Full) != full) continue;
            all.push_back(
                because(times_as_fast(std::string(panel) + " beats the CPU's LU: " + rival.name, Gpu, panel,
                                      "a row a pass", rival.name, At::Largest, 1),
                        "each of n passes writes the rest of the matrix, at 93 to 97 % of the write limit; the CPU's "
                        "blocks stay in its caches"));
            if (!full)
                all.push_back(
                    because(times_as_fast("today: blocks of 32 rows with " + std::string(panel) + " beat " + rival.name,
                                          Gpu, panel, "32 rows", rival.name, At::Largest, 1),
                            "each column of a block waits for the search of its pivot, which takes some passes of a "
                            "few texels"));
        }
    }
    return all;
}

constexpr const char *steps_rate = "steps a second", *flops = "GFLOP/s";

// The number before that text; nothing if there is none.
std::optional<double> number_before(const std::string& text, const std::string& words) {
    const auto at = text.find(words);
    if (at == text.npos || at == 0) return {};
    const auto from = text.find_last_not_of("0123456789.", at - 1);
    const auto number = text.substr(from == text.npos ? 0 : from + 1);
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    return end == number.c_str() ? std::nullopt : std::optional(value);
}

// The demo prints "8,192 bodies, 100 steps, 500 passes: ..." and "10.50 steps/s, 17.00 GFLOP/s (...)".
void measure_nbody(FigureSetting& setting, FigureData& data) {
    if (setting.nbody.empty()) {
        for (const auto* panel : {steps_rate, flops})
            data.note_missing(panel, "the physics is in demos/nbody, which is a program of its own: --nbody names it");
        return;
    }
    using Sizes = std::vector<int>;
    for (const int bodies : setting.pick(Sizes{1024, 2048}, Sizes{2048, 8192})) {
        const auto ended =
            input::run_program({setting.nbody, "--no-window", "--steps", std::to_string(setting.pick(10, 100)),
                                "--bodies", std::to_string(bodies)});
        const auto text = ended.output + ended.errors + ended.failure;
        const auto steps = number_before(text, " steps/s, "), operations = number_before(text, " GFLOP/s");
        if (!steps || !operations) {
            data.note_missing(steps_rate, "the demo said: " + text.substr(0, 200));
            data.note_missing(flops, "the demo said: " + text.substr(0, 200));
            return;
        }
        FigureData::must_have_drawn(steps_rate, bodies,
                                    static_cast<std::uint64_t>(number_before(text, " passes: ").value_or(0)));
        data.add(steps_rate, Whose::Ours, steps_rate, bodies, *steps);
        data.add(flops, Whose::Ours, flops, bodies, *operations);
    }
}

constexpr const char *step_times = "time of a step by texel", *whole_sort = "a sort, times its fastest steps";

void measure_cache_model(FigureSetting& setting, FigureData& data) {
    if (!setting.context) {
        data.note_missing("predicted", setting.why_no_context);
        return;
    }
    std::uint64_t passes = 0;
    const auto found = [&] {
        const PassCount count(setting.context, passes);
        return measure_cache(*setting.context, {.side = setting.pick(512, 2048), .repeat = 3});
    }();
    FigureData::must_have_drawn("measured", found.side, passes);
    for (const auto& step : found.steps) {
        data.add(step_times, Whose::Paper, "predicted", step.rows, step.predicted);
        data.add(step_times, Whose::Ours, "measured", step.rows, step.measured);
    }
    data.add(whole_sort, Whose::Paper, "predicted", found.side, found.sort_predicted);
    data.add(whole_sort, Whose::Ours, "measured", found.side, found.sort_measured);
}

// If a cache block is one texel, the model predicts that the height of quads has no effect.
Claim whole_sort_is_predicted() {
    auto claim = times_as_fast("the model predicts the time of a whole sort", Gpu, whole_sort, "measured", "predicted",
                               At::Every, 0.8, 1.25, Better::Neither);
    claim.rule += ", where it predicts an effect";
    claim.judge = [judge = claim.judge](const FigureData& data) -> Verdict {
        const auto found = judge(data);
        const auto xs = data.xs(whole_sort, "predicted");
        const bool says_nothing = !xs.empty() && *data.y(whole_sort, "predicted", xs.back()) == 1;
        return says_nothing ? Verdict{Verdict::Kind::NotHere, found.ours, "it predicts no effect here"} : found;
    };
    return claim;
}

}  // namespace

std::vector<Figure> slides_figures() {
    constexpr double million = 1 << 20;  // rows on the slides
    const auto beats = [](const std::string& claim, const std::string& panel, double min) {
        return because(only_at(million, times_as_fast(claim, Gpu, panel, "depth", scan, At::Largest, min)),
                       "today one core scans 2^20 rows in less than half a millisecond; each query on the GPU draws at "
                       "least one pass over them and waits for the count");
    };
    const auto today = [](const std::string& panel) {
        return times_as_fast("today: our bitmap engine beats a scan on all threads", Gpu, panel, "bitmap", all_scan,
                             At::Largest, 1);
    };
    // The panels are of two kinds, favourable ones and others. The slides' attributes have at most 24 bits and fit into
    // a depth buffer. Column c has 40 bits, which take two planes of depths; claims about it are ours.
    const auto is_of_c = [](const std::string& panel) {
        return std::ranges::any_of(std::array{"c <= ", "<= c ", "clauses, c", "copy c "},
                                   [&](const char* of_c) { return panel.find(of_c) != std::string::npos; });
    };
    const auto each_beats = [&](QueryKind kind, std::vector<Claim> claims) {
        for (const auto& one : query_cases({kind}, 1)) {
            const auto claim = "faster than the CPU: " + one.name;
            claims.push_back(is_of_c(one.name) ? because(beats("today, with 40 bits: " + claim, one.name, 1),
                                                         "40 bits take two planes of depths, and two tests")
                                               : beats(claim, one.name, 1));
        }
        return claims;
    };
    const std::string a = "a <= x", range = "x <= a <= y", cnf = "3 clauses, a or b", linear = "x a + y b <= z",
                      median = "median of a", kth = "k-th largest of a";
    return {
        query_figure("copy", "copy time to the depth buffer", QueryKind::Copy, each_beats(QueryKind::Copy, {})),
        query_figure("predicate", "a predicate on one attribute", QueryKind::Predicate,
                     each_beats(QueryKind::Predicate, {beats("nearly 20 times as fast as a Xeon", a, 18), today(a)})),
        query_figure(
            "range", "a range query by depth bounds", QueryKind::Range,
            each_beats(QueryKind::Range, {beats("nearly 20 times as fast as a Xeon", range, 18), today(range)})),
        query_figure("cnf", "conjunctions of disjunctions, by stencil", QueryKind::Cnf,
                     each_beats(QueryKind::Cnf, {today(cnf)})),
        query_figure("linear", "semi-linear predicates", QueryKind::Linear,
                     each_beats(QueryKind::Linear, {today(linear)})),
        query_figure("median", "the median, bit by bit", QueryKind::Median,
                     {only_at(million, times_as_fast("nearly 6 times as fast as a Xeon (quickselect)", Gpu, median,
                                                     "depth", "std::nth_element", At::Largest, 6 * slack)),
                      times_as_fast("today: faster than the library's own CPU engine", Gpu, median, "bitmap", "cpu",
                                    At::Largest, 1)}),
        query_figure("kth", "the k-th largest, bit by bit", QueryKind::Kth,
                     {only_at(million, times_as_fast("faster than the CPU's quickselect", Gpu, kth, "depth",
                                                     "std::nth_element", At::Largest, 1))}),
        {"slides-lu",
         slides,
         "LU without, with partial and with full pivoting",
         "paper: three GPUs and ATLAS's getrf on a Pentium IV, n up to 3,500; here one device, OpenBLAS on all threads "
         "and Eigen on one, n = 64 to 256 with --quick, else 512 to 3,500 (2,048 with full pivoting); a row a pass is "
         "the method of the slides; the matrix is on the GPU",
         {{"no pivoting", "n", "ms"}, {"partial pivoting", "n", "ms"}, {"full pivoting", "n", "ms"}},
         measure_lu,
         lu_claims()},
        {"slides-cache",
         slides,
         "The cache model: steps of quads of h rows",
         "textures of 512 x 512 (--quick) or 2048 x 2048; the model needs the block of the cache, which is measured; "
         "the time of the fastest height is 1",
         {{step_times, "rows of a quad", "times the fastest"}, {whole_sort, "side", "times"}},
         measure_cache_model,
         {because(times_as_fast("the model predicts the time of each step", Gpu, step_times, "measured", "predicted",
                                At::Every, 0.67, 1.5, Better::Neither),
                  "the model does not know that hardware shades 2 x 2 pixels, which doubles the cost of a quad one "
                  "row high"),
          whole_sort_is_predicted()}},
        {"slides-nbody",
         slides,
         "N-body: 8,192 bodies",
         "the rate that demos/nbody --no-window prints; 1,024 and 2,048 bodies with --quick, else 2,048 and 8,192",
         {{steps_rate, "bodies", "steps/s"}, {flops, "bodies", "GFLOP/s"}},
         measure_nbody,
         {{"10.5 steps per second of 8,192 bodies", "steps a second: at least 10.5 at x = 8,192",
           [](const FigureData& data) -> Verdict {
               if (!data.y(steps_rate, steps_rate, 8192) && !data.xs(steps_rate, steps_rate).empty())
                   return {Verdict::Kind::NotHere, "", "--quick takes fewer bodies"};
               return lies_within("", Gpu, steps_rate, steps_rate, At::Largest, 10.5, no_limit).judge(data);
           },
           Gpu},
          lies_within("more than 17 GFLOP/s", Gpu, flops, flops, At::Largest, 17, no_limit)}}};
}

}  // namespace quadmill::detail::bench
