#include "bench/stream_bench.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "bench/borrowed.hpp"
#include "bench/pass_count.hpp"
#include "bench/refusal.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/keys.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::bench {

namespace {

using stream::number;

// Sorts each window with a rival as soon as it arrives.
class RivalSorter final : public WindowSorter {
  public:
    explicit RivalSorter(const Rival& rival) : rival_(rival) {}
    void begin(Keys keys, std::size_t window) override {
        const cpu::Stopwatch time;
        cpu::visit(keys, [&](auto values) {
            for (std::size_t i = 0; i < values.size(); i += window)
                rival_.sort(values.subspan(i, std::min(window, values.size() - i)));
        });
        times_.sort += time.ms();
    }
    void finish() override {}
    [[nodiscard]] std::size_t depth() const override { return 1; }
    [[nodiscard]] std::size_t batch_bytes() const override { return std::size_t{1} << 20U; }
    [[nodiscard]] Times times() const override { return times_; }
    [[nodiscard]] std::string name() const override { return rival_.name; }

  private:
    const Rival& rival_;
    Times times_;
};

// The time of a run, and the answers to check.
template <class T>
struct Run {
    double ms = 0;
    StreamTimes parts{};
    std::size_t summary_bytes = 0, bytes = 0;
    std::vector<Quantile<T>> quantiles;
    std::vector<Frequent<T>> frequent;
};

const std::vector<double> phis = [] {
    std::vector<double> list;
    for (int i = 0; i <= 100; ++i) list.push_back(i / 100.0);
    return list;
}();

// The support for frequent values: ten times the permitted error.
double support(const StreamCase& which) {
    return std::min(10 * which.eps, 1.0);
}

SlidingOptions sliding_of(const StreamCase& which) {
    auto options = which.form;
    options.eps = which.eps;
    options.window = which.sliding;
    return options;
}

template <class T>
Run<T> run(const StreamCase& which, std::span<const T> values, WindowSorter& sorter) {
    auto borrowed = std::make_unique<Borrowed>(sorter);
    Run<T> out;
    const auto drive = [&](auto summary, auto ask) {
        const cpu::Stopwatch time;
        summary.add(values);
        ask(summary);
        out.ms = time.ms();
        out.parts = summary.times();
        out.summary_bytes = summary.summary_bytes();
        out.bytes = summary.bytes();
    };
    const auto ask_quantiles = [&](const auto& summary) { out.quantiles = summary.quantiles(phis); };
    const auto ask_frequent = [&](const auto& summary) { out.frequent = summary.frequent(support(which)); };
    switch (which.summary) {
        case Summary::Quantiles:
            drive(Quantiles<T>({.eps = which.eps, .n = {}, .window = which.window}, std::move(borrowed)),
                  ask_quantiles);
            break;
        case Summary::Frequencies:
            drive(Frequencies<T>({.eps = which.eps, .window = which.window}, std::move(borrowed)), ask_frequent);
            break;
        case Summary::SlidingQuantiles:
            drive(SlidingQuantiles<T>(sliding_of(which), std::move(borrowed)), ask_quantiles);
            break;
        case Summary::SlidingFrequencies:
            drive(SlidingFrequencies<T>(sliding_of(which), std::move(borrowed)), ask_frequent);
            break;
    }
    return out;
}

// For checks, which are not timed.
const Rival& fastest_rival() {
    const auto* const fastest = rival_of("vqsort");
    return fastest ? *fastest : rivals().front();
}

// The values that the answers are about, sorted.
template <class T>
class Exact {
  public:
    Exact(const StreamCase& which, std::span<const T> values) {
        const auto n = which.slides() ? std::min<std::uint64_t>(which.sliding, values.size()) : values.size();
        const auto last = values.last(static_cast<std::size_t>(n));
        sorted_.assign(last.begin(), last.end());
        fastest_rival().sort(std::span(sorted_));
    }

    // The worst error divided by eps n. Above 1 also if a bound does not hold or a value is missing.
    [[nodiscard]] double worst(const StreamCase& which, const Run<T>& run) const {
        const double allowed = which.eps * static_cast<double>(sorted_.size());
        double worst = 0;
        for (const auto& q : run.quantiles) {
            const auto [below, at_most] = range(q.value);
            const auto rank = static_cast<double>(q.rank);
            worst = std::max({worst, (below + 1 - rank) / allowed, (rank - at_most) / allowed});
            if (static_cast<double>(q.rank_lower) > at_most || static_cast<double>(q.rank_upper) < below + 1)
                return wrong;
        }
        if (counts(which)) return std::max(worst, worst_count(which, run, allowed));
        if (run.quantiles.empty() && !sorted_.empty()) return wrong;
        return worst;
    }

  private:
    static constexpr double wrong = 1e9;
    static bool counts(const StreamCase& which) {
        return which.summary == Summary::Frequencies || which.summary == Summary::SlidingFrequencies;
    }
    static bool less(const T& a, const T& b) { return number(a) < number(b); }
    [[nodiscard]] std::pair<double, double> range(T value) const {
        const auto [first, last] = std::equal_range(sorted_.begin(), sorted_.end(), value, less);
        return {static_cast<double>(first - sorted_.begin()), static_cast<double>(last - sorted_.begin())};
    }
    [[nodiscard]] double worst_count(const StreamCase& which, const Run<T>& run, double allowed) const {
        const double min = support(which) * static_cast<double>(sorted_.size());
        double worst = 0;
        std::size_t frequent = 0;
        for (const auto& [value, count] : run.frequent) {
            const auto [below, at_most] = range(value);
            const double exact = at_most - below;
            worst = std::max(worst, (exact - static_cast<double>(count.estimate)) / allowed);
            if (static_cast<double>(count.lower) > exact || static_cast<double>(count.upper) < exact) return wrong;
            frequent += exact >= min;
        }
        for (auto at = sorted_.begin(); at != sorted_.end();) {
            // Nearly all values are different, so the next different value is near.
            const auto next = std::find_if(at, sorted_.end(), [at](const T& value) { return less(*at, value); });
            if (static_cast<double>(next - at) >= min && frequent-- == 0) return wrong;  // it was not found
            at = next;
        }
        return worst;
    }
    std::vector<T> sorted_;
};

// Enough values that an engine's buffers get their size, but at most a quarter of all. A rival has no buffers.
std::size_t values_to_warm(const StreamContender& contender, std::size_t n) {
    return std::min(std::size_t{1} << (contender.is_rival() ? 20U : 24U), std::max<std::size_t>(n / 4, 1));
}

}  // namespace

double StreamResult::slowest_ms() const {
    return std::max({parts.sort, parts.upload + parts.readback, parts.sample + parts.merge + parts.compress});
}

StreamBench::StreamBench(std::optional<Context> context, std::string why_no_context,
                         std::vector<StreamContender> contenders, int repeat)
    : context_(std::move(context)),
      why_no_context_(std::move(why_no_context)),
      contenders_(std::move(contenders)),
      repeat_(repeat),
      sorters_(contenders_.size()) {}
StreamBench::StreamBench(StreamBench&&) noexcept = default;
StreamBench::~StreamBench() = default;

WindowSorter& StreamBench::sorter(std::size_t i) {
    auto& kept = sorters_[i];
    if (kept) return *kept;
    const auto& [name, engine, rival, pbsn] = contenders_[i];
    if (rival) {
        kept = std::make_unique<RivalSorter>(*rival);
    } else if (*engine == Engine::Cpu) {
        kept = cpu_window_sorter();
    } else {
        if (!context_) throw InvalidArgument(why_no_context_);
        kept = window_sorter(*context_, {.engine = *engine, .paper = {.pbsn = pbsn}});
    }
    return *kept;
}

StreamCaseResult StreamBench::run(const StreamCase& which) {
    StreamCaseResult found{which, {}};
    std::optional<Session> session;  // opening and closing one per batch would wait for the GPU
    if (context_) session.emplace(*context_);
    cpu::KeyBuffer buffer(which.type, which.distribution, which.n, 2005);
    cpu::visit(buffer.keys(), [&]<class T>(std::span<T> keys) {
        const auto values = std::span<const T>(keys);
        const Exact<T> exact(which, values);
        std::vector<std::vector<Run<T>>> runs(contenders_.size());
        for (const auto& contender : contenders_) found.results.push_back({.contender = &contender});
        for (int repetition = 0; repetition < repeat_; ++repetition) {
            for (std::size_t turn = 0; turn < contenders_.size(); ++turn) {
                const auto i = (turn + static_cast<std::size_t>(repetition)) % contenders_.size();
                auto& result = found.results[i];
                if (!result.ran()) continue;
                result.refusal = refusal_of([&] {
                    const PassCount count(context_, result.passes);
                    auto& sorts = sorter(i);
                    result.engine = sorts.name();
                    const auto warm = values.first(std::min(values.size(), values_to_warm(contenders_[i], which.n)));
                    const auto warm_up = [&] { static_cast<void>(bench::run<T>(which, warm, sorts)); };
                    warm_up();
                    if (context_ && sorts.name() != "cpu" && !contenders_[i].is_rival()) wake(*context_, warm_up);
                    runs[i].push_back(bench::run<T>(which, values, sorts));
                });
            }
        }
        for (std::size_t i = 0; i < runs.size(); ++i) {
            auto& result = found.results[i];
            if (!result.ran()) continue;
            spread_of(runs[i], &Run<T>::ms).note_in(result);
            const auto& median = middle_run(runs[i], &Run<T>::ms);
            result.parts = median.parts;
            result.summary_bytes = median.summary_bytes;
            result.bytes = median.bytes;
            for (const auto& run : runs[i]) result.worst_error = std::max(result.worst_error, exact.worst(which, run));
            result.verified = result.worst_error <= 1;
        }
    });
    return found;
}

}  // namespace quadmill::detail::bench
