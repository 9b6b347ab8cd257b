#include "bench/tune.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

#include "bench/borrowed.hpp"
#include "bench/spread.hpp"
#include "cpu/keys.hpp"
#include "cpu/sample_keys.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::bench {

using stream::number;

namespace {

// What is measured is repeated, but for what takes long.
constexpr int repeats = 3;
constexpr double long_ms = 250;
constexpr double stream_eps = 0.01;

// The median, after so many milliseconds, once at least, that do not count, in which programs may be compiled, and a GPU
// that idled raises its clock. `prepare` is not timed.
template <class Prepare, class Work>
double median_ms(double untimed_ms, const Prepare& prepare, const Work& work) {
    const auto once = [&] {
        prepare();
        const cpu::Stopwatch time;
        work();
        return time.ms();
    };
    for (const cpu::Stopwatch untimed; once() < long_ms && untimed.ms() < untimed_ms;) {
    }
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        times.push_back(once());
        if (times.back() >= long_ms) break;
    }
    return Spread(std::move(times)).median;
}

struct Limits {
    std::size_t least, most;
    double ms;  // for all sizes of a case
};

class Tuner {
  public:
    Tuner(const Context& context, unsigned threads, TuneLength length,
          const std::function<void(const TuneCase&)>& found)
        : context_(context),
          threads_(threads),
          keys_(length == TuneLength::Quick ? Limits{std::size_t{1} << 12, std::size_t{1} << 20, 700}
                                            : Limits{std::size_t{1} << 10, std::size_t{1} << 24, 4000}),
          found_(found),
          untimed_ms_(context.info().software ? 0 : 100) {}

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

    // Asks `measure(n)` for ever more, until that takes too long.
    template <class Measure>
    const std::vector<TunePoint>& measure_all(const std::string& what, const Limits& limits, const Measure& measure) {
        TuneCase one{.what = what};
        double spent = 0;
        for (auto n = limits.least; n <= limits.most; n *= 4) {
            one.points.push_back(measure(n));
            const auto& made = one.points.back();
            const double ms = (made.cpu_ms + made.gpu_ms + made.hybrid_ms.value_or(0)) * (repeats + 1);
            spent += ms;
            if (spent + 4 * ms > limits.ms) break;  // the next one takes as much longer as it is larger
        }
        found_(one);
        result_.cases.push_back(std::move(one));
        return result_.cases.back().points;
    }

    static double cpu_ms(const TunePoint& point) { return point.cpu_ms; }
    static double gpu_ms(const TunePoint& point) { return point.gpu_ms; }

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
            const auto& points = measure_all(what + ", of " + width.name + " bits", keys_, [&](std::size_t n) {
                return sort_point(width.type, n, kind, hybrid != nullptr);
            });
            widths.*width.crossing = crossing(points, cpu_ms, gpu_ms).value_or(SortCrossings::never);
            if (!hybrid) continue;
            const auto best = [](const TunePoint& p) { return std::min(p.cpu_ms, p.gpu_ms); };
            const auto both = [](const TunePoint& p) { return *p.hybrid_ms; };
            hybrid->*width.crossing = crossing(points, best, both).value_or(SortCrossings::never);
        }
    }

    // Quantiles of so many values, of which sorters take a batch of some 4 MB at a time. So one crossing is of streams, and
    // that of batches is whether long ones win.
    template <class T>
    std::size_t stream_crossing(KeyType type, const char* name) {
        constexpr std::size_t least_batch = std::size_t{1} << 18U;
        const auto& points = measure_all("values of a stream, of " + std::string(name) + " bits", keys_, [&](auto n) {
            cpu::KeyBuffer buffer(type, cpu::Distribution::Uniform, n, n);
            const auto values = std::span<const T>(static_cast<const T*>(buffer.keys().data()), n);
            const auto time = [&](Engine engine) {
                const auto sorter = window_sorter(context_, {.engine = engine, .threads = threads_});
                T middle{};
                const double ms = median_ms(
                    untimed_ms_, [] {},
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
        const auto from = crossing(points, cpu_ms, gpu_ms);
        return from ? std::min(*from, least_batch) : SortCrossings::never;
    }

    template <class T>
    static void check_middle(std::span<const T> values, T middle) {
        const auto at = number(middle);
        const auto less = std::ranges::count_if(values, [&](T value) { return number(value) < at; }),
                   more = std::ranges::count_if(values, [&](T value) { return at < number(value); });
        const auto most = static_cast<double>(values.size()) * (0.5 + stream_eps) + 1;
        if (static_cast<double>(std::max(less, more)) > most)
            throw Error("tune: what an engine sorted has another median; `quadmill info` says which driver this is");
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
                untimed_ms_, [&] { keys = input; },
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
            if (!in_order)
                throw Error("tune: what an engine sorted is not in order; `quadmill info` says which driver this is");
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

    // Of a column that is there already.
    template <class Ask>
    std::uint64_t tune_rows(const std::string& what, const Ask& ask) {
        const auto& points = measure_all(what, keys_, [&](std::size_t rows) {
            const auto data = table(rows, 1U << 20U);
            decltype(ask(std::declval<QueryProcessor&>(), data)) found{};
            const auto time = [&](QueryEngine engine) {
                auto by = processor(engine);
                return median_ms(
                    untimed_ms_, [] {}, [&] { found = ask(by, data); });
            };
            TunePoint point{.n = rows, .cpu_ms = time(QueryEngine::Cpu), .gpu_ms = 0};
            const auto right = found;
            point.gpu_ms = time(QueryEngine::Bitmap);
            if (found != right) throw Error("tune: the engines of queries disagree about " + what);
            return point;
        });
        const auto rows = crossing(points, cpu_ms, gpu_ms);
        return rows ? *rows : QueryCrossings::never;
    }
    double depth_over_bitmap(std::size_t rows) {
        const auto data = table(rows, 1U << 20U);
        std::array<std::uint64_t, 2> found{};
        const auto ms = [&](QueryEngine engine, std::uint64_t& count) {
            auto by = processor(engine);
            return median_ms(
                untimed_ms_, [] {}, [&] { count = by.count(data, column("a") > 100'000 && column("a") < 700'000); });
        };
        const double ratio = ms(QueryEngine::Depth, found[0]) / ms(QueryEngine::Bitmap, found[1]);
        if (found[0] != found[1]) throw Error("tune: the engines of queries on the GPU disagree about a predicate");
        return ratio;
    }
    void tune_queries() {
        result_.query.rows = tune_rows("a predicate", [](QueryProcessor& by, const Table& data) {
            return by.count(data, column("a") > 100'000 && column("a") < 700'000);
        });
        result_.query.depth_over_bitmap = depth_over_bitmap(std::min(keys_.most, std::size_t{1} << 22U));
        result_.query.rank_rows = tune_rows("a median", [](QueryProcessor& by, const Table& data) {
            return by.kth_largest(data, "a", data.rows() / 2);
        });
    }

    // Tables of as many rows each, most of which have one partner. The GPU's nested loops win where tables are small.
    void tune_joins() {
        const auto& points =
            measure_all("a join", {std::size_t{1} << 12, std::size_t{1} << 16, keys_.ms}, [&](std::size_t rows) {
                const auto left = table(rows, static_cast<std::uint32_t>(rows)),
                           right = table(rows, static_cast<std::uint32_t>(rows) + 1);
                std::uint64_t pairs = 0;
                const auto time = [&](QueryEngine engine, JoinMethod method) {
                    auto by = processor(engine);
                    const Join on{.left = "a", .right = "a", .method = method};
                    return median_ms(
                        untimed_ms_, [&] { pairs = 0; },
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
    }

    Context context_;
    unsigned threads_;
    Limits keys_;
    const std::function<void(const TuneCase&)>& found_;
    double untimed_ms_;  // before each median
    std::optional<Sorter> on_cpu_, merge_, hybrid_;
    TuneResult result_;
};

}  // namespace

std::optional<std::size_t> crossing(std::span<const TunePoint> points,
                                    const std::function<double(const TunePoint&)>& first,
                                    const std::function<double(const TunePoint&)>& second) {
    auto from = points.size();
    while (from > 0 && second(points[from - 1]) < first(points[from - 1])) --from;
    if (from == points.size()) return {};
    if (from == 0) return points[0].n;
    // Between the two, the logarithm of their ratio is a line over the logarithm of n.
    const auto &lost = points[from - 1], &won = points[from];
    const double above = std::log(second(lost) / first(lost)), below = std::log(second(won) / first(won));
    const double at = above / (above - below);
    const auto n = std::exp(std::lerp(std::log(static_cast<double>(lost.n)), std::log(static_cast<double>(won.n)), at));
    return static_cast<std::size_t>(std::llround(n));
}

TuneResult tune(const Context& context, unsigned threads, TuneLength length,
                const std::function<void(const TuneCase&)>& found) {
    return Tuner(context, threads, length, found).run();
}

}  // namespace quadmill::detail::bench
