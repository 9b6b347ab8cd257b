#include "bench/tune.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

#include "bench/borrowed.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/keys.hpp"
#include "cpu/sample_keys.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::bench {

using stream::number;

namespace {

// Number of measurements, except for those that take long.
constexpr int repeats = 3;
constexpr double long_ms = 250;
constexpr double stream_eps = 0.01;

constexpr std::size_t max_crossing = std::size_t{1} << 30U;

// The median. Before it, the work is done untimed, at least once and until it has not become faster for `quiet_ms`:
// programs may have to be compiled, and an idle GPU raises its clock. `prepare` is not timed.
template <class Prepare, class Work>
double median_ms(double quiet_ms, const Prepare& prepare, const Work& work) {
    const auto once = [&] {
        prepare();
        const cpu::Stopwatch time;
        work();
        return time.ms();
    };
    for (Steady steady(quiet_ms); !steady.add(once());) {
    }
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        times.push_back(once());
        if (times.back() >= long_ms) break;
    }
    return Spread(std::move(times)).median;
}

double cpu_ms(const TunePoint& point) {
    return point.cpu_ms;
}
double gpu_ms(const TunePoint& point) {
    return point.gpu_ms;
}
double total_ms(const TunePoint& point) {
    return (point.cpu_ms + point.gpu_ms + point.hybrid_ms.value_or(0)) * (repeats + 1);
}

class Tuner {
  public:
    Tuner(const Context& context, unsigned threads, TuneLength length,
          const std::function<void(const TuneCase&)>& found)
        : context_(context),
          threads_(threads),
          keys_(length == TuneLength::Quick ? TuneLimits{std::size_t{1} << 12, std::size_t{1} << 22, 700}
                                            : TuneLimits{std::size_t{1} << 10, std::size_t{1} << 24, 4000}),
          found_(found),
          quiet_ms_(context.info().software ? 0 : 100) {}

    TuneResult run() {
        tune_sorts(result_.sort.keys, "keys", {}, &result_.sort.hybrid);
        tune_sorts(result_.sort.with_index, "keys with an index", {.index = true});
        tune_sorts(result_.sort.windows, "windows of 1024 keys", {.window = 1024});
        tune_streams();
        tune_sorts(result_.sort.top, "the 100 first keys", {.best = 100});
        tune_queries();
        tune_joins();
        return std::move(result_);
    }

  private:
    struct Kind {
        bool index = false;
        std::size_t window = 0, best = 0;
    };

    const std::vector<TunePoint>& measure_all(const std::string& what, const TuneLimits& limits,
                                              const std::function<TunePoint(std::size_t)>& measure) {
        result_.cases.push_back({.what = what, .points = measure_points(limits, measure)});
        found_(result_.cases.back());
        return result_.cases.back().points;
    }
    // A CPU needs no such time to raise its clock.
    template <class Engines>
    [[nodiscard]] double quiet_ms(Engines engine) const {
        return engine == Engines::Cpu ? 0 : quiet_ms_;
    }

    void tune_sorts(SortCrossings::ByWidth& widths, const std::string& what, const Kind& kind,
                    SortCrossings::ByWidth* hybrid = nullptr) {
        struct Width {
            KeyType type;
            const char* name;
            std::size_t SortCrossings::ByWidth::*crossing;
        };
        using ByWidth = SortCrossings::ByWidth;
        for (const auto& width :
             {Width{KeyType::F16, "16", &ByWidth::bits16}, Width{KeyType::F32, "32", &ByWidth::bits32},
              Width{KeyType::I64, "64", &ByWidth::bits64}}) {
            const auto& points = measure_all(what + ", " + width.name + "-bit", keys_, [&](std::size_t n) {
                return sort_point(width.type, n, kind, hybrid != nullptr);
            });
            widths.*width.crossing = crossing_or_predicted(points, cpu_ms, gpu_ms).value_or(SortCrossings::never);
            if (!hybrid) continue;
            const auto best = [](const TunePoint& p) { return std::min(p.cpu_ms, p.gpu_ms); };
            const auto both = [](const TunePoint& p) { return *p.hybrid_ms; };
            hybrid->*width.crossing = crossing_or_predicted(points, best, both).value_or(SortCrossings::never);
        }
    }

    // Quantiles of that many values. Sorters take batches of about 4 MB. So one crossover is for streams, and the one
    // for batches is whether long streams are faster.
    template <class T>
    std::size_t stream_crossing(KeyType type, const char* name) {
        constexpr std::size_t min_batch = std::size_t{1} << 18U;
        const auto& points = measure_all("values of a stream, " + std::string(name) + "-bit", keys_, [&](auto n) {
            cpu::KeyBuffer buffer(type, cpu::Distribution::Uniform, n, n);
            const auto values = std::span<const T>(static_cast<const T*>(buffer.keys().data()), n);
            const auto time = [&](Engine engine) {
                const auto sorter = window_sorter(context_, {.engine = engine, .threads = threads_});
                T middle{};
                const double ms = median_ms(
                    quiet_ms(engine), [] {},
                    [&] {
                        Quantiles<T> quantiles({.eps = stream_eps}, std::make_unique<Borrowed>(*sorter));
                        quantiles.add(values);
                        middle = quantiles.quantile(0.5).value;
                    });
                check_middle(values, middle);
                return ms;
            };
            return TunePoint{.n = n, .cpu_ms = time(Engine::Cpu), .gpu_ms = time(Engine::Merge)};
        });
        const auto from = crossing_or_predicted(points, cpu_ms, gpu_ms);
        return from ? std::min(*from, min_batch) : SortCrossings::never;
    }

    template <class T>
    static void check_middle(std::span<const T> values, T middle) {
        const auto at = number(middle);
        const auto less = std::ranges::count_if(values, [&](T value) { return number(value) < at; }),
                   more = std::ranges::count_if(values, [&](T value) { return at < number(value); });
        const auto max = static_cast<double>(values.size()) * (0.5 + stream_eps) + 1;
        if (static_cast<double>(std::max(less, more)) > max)
            throw Error("tune: an engine sorted to a wrong median; `quadmill info` names the driver");
    }

    void tune_streams() {
        result_.sort.batches = {.bits16 = stream_crossing<Half>(KeyType::F16, "16"),
                                .bits32 = stream_crossing<float>(KeyType::F32, "32"),
                                .bits64 = stream_crossing<std::int64_t>(KeyType::I64, "64")};
    }

    TunePoint sort_point(KeyType type, std::size_t n, const Kind& kind, bool with_hybrid) {
        const cpu::KeyBuffer input(type, cpu::Distribution::Uniform, n, n);
        auto keys = input;
        std::vector<std::uint32_t> index(kind.index ? n : 0);
        cpu::KeyBuffer best(type, cpu::Distribution::Uniform, std::min(kind.best, n), 1);
        const auto time = [&](Engine engine) {
            auto& sorter = sorter_of(engine);
            const double ms = median_ms(
                quiet_ms(engine), [&] { keys = input; },
                [&] {
                    if (kind.best > 0) return sorter.top(keys.keys(), best.keys());
                    if (kind.index) return sorter.sort_with_index(keys.keys(), index);
                    if (kind.window > 0) return sorter.sort_windows(keys.keys(), kind.window);
                    return sorter.sort(keys.keys());
                });
            const auto sorted = kind.best > 0 ? best.keys() : keys.keys();
            const auto part = kind.window > 0 ? kind.window : std::max<std::size_t>(sorted.size(), 1);
            bool in_order = true;
            for (std::size_t i = 0; i < sorted.size(); i += part)
                in_order = in_order && cpu::in_order(cpu::part(sorted, i, std::min(part, sorted.size() - i)));
            if (!in_order) {
                const auto* name = engine == Engine::Cpu ? "CPU" : engine == Engine::Merge ? "merge" : "hybrid";
                throw Error("tune: the " + std::string(name) + " engine sorted " + std::to_string(n) + " keys of " +
                            std::to_string(8 * cpu::bytes_of(type)) +
                            " bits wrongly; `quadmill info` names the driver");
            }
            return ms;
        };
        TunePoint point{.n = n, .cpu_ms = time(Engine::Cpu), .gpu_ms = time(Engine::Merge)};
        if (with_hybrid) point.hybrid_ms = time(Engine::Hybrid);
        return point;
    }

    Sorter& sorter_of(Engine engine) {
        auto& sorter = engine == Engine::Cpu ? on_cpu_ : engine == Engine::Merge ? merge_ : hybrid_;
        if (!sorter) sorter.emplace(context_, SortOptions{.engine = engine, .threads = threads_});
        return *sorter;
    }

    [[nodiscard]] QueryProcessor processor(QueryEngine engine) const {
        return QueryProcessor(context_, {.engine = engine, .threads = threads_});
    }
    static Table table(std::size_t rows, std::uint32_t values) {
        std::mt19937 random(static_cast<std::uint32_t>(rows) + values);
        std::vector<std::int32_t> column(rows);
        for (auto& value : column) value = static_cast<std::int32_t>(random() % values);
        Table table;
        table.add("a", std::move(column));
        return table;
    }

    // For a column that is already loaded. Also sets both times per row of a large table.
    template <class Ask>
    std::uint64_t tune_rows(const std::string& what, double& cpu_ns, double& gpu_ns, const Ask& ask,
                            std::uint32_t values = 1U << 20U) {
        const auto& points = measure_all(what, keys_, [&](std::size_t rows) {
            const auto data = table(rows, values);
            decltype(ask(std::declval<QueryProcessor&>(), data)) found{};
            const auto time = [&](QueryEngine engine) {
                auto by = processor(engine);
                return median_ms(
                    quiet_ms(engine), [] {}, [&] { found = ask(by, data); });
            };
            TunePoint point{.n = rows, .cpu_ms = time(QueryEngine::Cpu), .gpu_ms = 0};
            const auto right = found;
            point.gpu_ms = time(QueryEngine::Bitmap);
            if (found != right) throw Error("tune: the engines of queries disagree about " + what);
            return point;
        });
        cpu_ns = points.back().cpu_ms * 1e6 / static_cast<double>(points.back().n);
        gpu_ns = points.back().gpu_ms * 1e6 / static_cast<double>(points.back().n);
        const auto rows = crossing_or_predicted(points, cpu_ms, gpu_ms);
        return rows ? *rows : QueryCrossings::never;
    }
    static std::uint64_t in_the_middle(QueryProcessor& by, const Table& data) {
        return by.count(data, column("a") > 100'000 && column("a") < 700'000);
    }
    // What the first count of a column takes beyond further ones.
    double load_ns(std::size_t rows) {
        const auto data = table(rows, 1U << 20U);
        auto by = processor(QueryEngine::Bitmap);
        static_cast<void>(in_the_middle(by, table(1, 1)));
        const cpu::Stopwatch time;
        static_cast<void>(in_the_middle(by, data));
        const double first = time.ms();
        const double again = median_ms(
            quiet_ms_, [] {}, [&] { static_cast<void>(in_the_middle(by, data)); });
        return std::max(0.0, first - again) * 1e6 / static_cast<double>(rows);
    }
    void tune_queries() {
        auto& costs = result_.statements;
        const auto median = [](QueryProcessor& by, const Table& data) {
            return by.kth_largest(data, "a", (data.rows() + 1) / 2);
        };
        constexpr std::uint32_t some_groups = 50;
        const auto groups = [](QueryProcessor& by, const Table& data) {
            const auto found = by.run({.outputs = {{"a", "a"}, {QueryAggregate{}, "n"}}, .group_by = {"a"}}, data);
            std::uint64_t sum = 0;  // of all values in order
            for (const auto& row : found.rows) {
                for (const auto& value : row)
                    sum = 31 * sum + static_cast<std::uint64_t>(std::get<std::int64_t>(value));
            }
            return sum;
        };
        const cpu::Stopwatch time;
        auto first = processor(QueryEngine::Bitmap);
        static_cast<void>(in_the_middle(first, table(1, 1)));
        static_cast<void>(groups(first, table(1, 1)));
        static_cast<void>(median(first, table(1, 1)));
        costs.start_ms = time.ms();
        const auto rows = std::min(keys_.max_n / 4, std::size_t{1} << 22U);
        result_.query.rows = tune_rows("a predicate", costs.cpu_ns, costs.gpu_ns, in_the_middle);
        costs.load_ns = load_ns(rows);
        result_.query.rank_rows = tune_rows("a median", costs.cpu_rank_ns, costs.gpu_rank_ns, median);
        static_cast<void>(tune_rows("GROUP BY", costs.cpu_group_ns, costs.gpu_group_ns, groups, some_groups));
    }

    // Tables with the same number of rows, most of which have one partner. The GPU's nested loops win if tables are
    // small.
    void tune_joins() {
        const auto& points =
            measure_all("a join", {std::size_t{1} << 12, std::size_t{1} << 18, keys_.ms, 2}, [&](std::size_t rows) {
                const auto left = table(rows, static_cast<std::uint32_t>(rows)),
                           right = table(rows, static_cast<std::uint32_t>(rows) + 1);
                std::uint64_t pairs = 0;
                const auto time = [&](QueryEngine engine, JoinMethod method) {
                    auto by = processor(engine);
                    const Join on{.left = "a", .right = "a", .method = method};
                    return median_ms(
                        quiet_ms(engine), [&] { pairs = 0; },
                        [&] {
                            by.join(left, right, on, [&](std::span<const RowPair> some) { pairs += some.size(); });
                        });
                };
                TunePoint point{.n = rows, .cpu_ms = time(QueryEngine::Cpu, JoinMethod::SortMerge), .gpu_ms = 0};
                const auto right_pairs = pairs;
                point.gpu_ms = time(QueryEngine::Bitmap, JoinMethod::NestedLoops);
                if (pairs != right_pairs) throw Error("tune: the engines of queries disagree about a join");
                return point;
            });
        for (const auto& point : points) {
            if (point.gpu_ms < point.cpu_ms) result_.query.join_comparisons = point.n / 2;  // n n / (n + n)
        }
        const auto& last = points.back();
        const auto rows = static_cast<double>(last.n);
        result_.statements.cpu_join_ns = last.cpu_ms * 1e6 / (2 * rows);
        result_.statements.gpu_join_ns = last.gpu_ms * 1e6 / (rows * rows);
    }

    Context context_;
    unsigned threads_;
    TuneLimits keys_;
    const std::function<void(const TuneCase&)>& found_;
    double quiet_ms_;  // for a GPU, before each median
    std::optional<Sorter> on_cpu_, merge_, hybrid_;
    TuneResult result_;
};

}  // namespace

std::optional<std::size_t> crossing(std::span<const TunePoint> points, const TimeOf& first, const TimeOf& second) {
    auto from = points.size();
    while (from > 0 && second(points[from - 1]) < first(points[from - 1])) --from;
    if (from == points.size()) return {};
    if (from == 0) return points[0].n;
    // Between the two points, the logarithm of their ratio is linear in the logarithm of n.
    const auto &lost = points[from - 1], &won = points[from];
    const double above = std::log(second(lost) / first(lost)), below = std::log(second(won) / first(won));
    const double at = above / (above - below);
    const auto n = std::exp(std::lerp(std::log(static_cast<double>(lost.n)), std::log(static_cast<double>(won.n)), at));
    return static_cast<std::size_t>(std::llround(n));
}

std::optional<std::size_t> predicted_crossing(std::span<const TunePoint> points, const TimeOf& first,
                                              const TimeOf& second, std::size_t max_n) {
    if (points.size() < 2) return {};
    const auto &before = points[points.size() - 2], &last = points.back();
    const auto n = static_cast<double>(last.n), steps = n - static_cast<double>(before.n);
    const double closer = ((first(last) - first(before)) - (second(last) - second(before))) / steps;
    if (closer <= 0) return {};
    const double at = n + (second(last) - first(last)) / closer;
    if (at > static_cast<double>(max_n)) return {};
    return static_cast<std::size_t>(std::llround(at));
}

std::optional<std::size_t> crossing_or_predicted(std::span<const TunePoint> points, const TimeOf& first,
                                                 const TimeOf& second) {
    const auto measured = crossing(points, first, second);
    return measured ? measured : predicted_crossing(points, first, second, max_crossing);
}

std::vector<TunePoint> measure_points(const TuneLimits& limits,
                                      const std::function<TunePoint(std::size_t n)>& measure) {
    constexpr std::size_t max_look = std::size_t{1} << 26U;
    std::vector<TunePoint> points;
    double spent = 0;
    // Estimates that the next size takes longer in proportion to its number.
    const auto is_affordable = [&](std::size_t n) {
        const double times = static_cast<double>(n) / static_cast<double>(points.back().n);
        return spent + times * total_ms(points.back()) <= limits.ms;
    };
    const auto add = [&](std::size_t n) {
        const auto at = std::ranges::lower_bound(points, n, {}, &TunePoint::n);
        if (at != points.end() && at->n == n) return;
        const auto point = measure(n);
        spent += total_ms(point);
        points.insert(at, point);
    };
    add(limits.min_n);
    for (auto n = 4 * limits.min_n; n <= limits.max_n && (points.size() < limits.min_points || is_affordable(n));
         n *= 4)
        add(n);
    while (!crossing(points, cpu_ms, gpu_ms)) {  // "never" needs a look at where it may win
        const auto likely = predicted_crossing(points, cpu_ms, gpu_ms, max_look / 2);
        if (!likely) break;
        const auto beyond = std::max(2 * *likely, 2 * points.back().n);
        if (beyond > max_look || !is_affordable(beyond / 4)) break;  // which is worth more time
        add(beyond);
    }
    if (const auto from = crossing(points, cpu_ms, gpu_ms); from && *from > points.front().n) add(*from);
    return points;
}

TuneResult tune(const Context& context, unsigned threads, TuneLength length,
                const std::function<void(const TuneCase&)>& found) {
    return Tuner(context, threads, length, found).run();
}

}  // namespace quadmill::detail::bench
