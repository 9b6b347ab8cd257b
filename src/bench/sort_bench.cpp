#include "bench/sort_bench.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "bench/spread.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {

namespace {

// Adds up what passes write.
class WrittenTexels final : public PassObserver {
  public:
    explicit WrittenTexels(std::optional<Context>& context) : context_(context) {
        if (context_) previous_ = context_->observe(this);
    }
    WrittenTexels(const WrittenTexels&) = delete;
    WrittenTexels& operator=(const WrittenTexels&) = delete;
    ~WrittenTexels() override {
        if (context_) context_->observe(previous_);
    }
    void before(const PassEvent& pass) override {
        texels[{std::string(pass.format), pass.write}] += pass.texels * static_cast<std::uint64_t>(pass.targets);
    }
    std::map<std::pair<std::string, PassEvent::Write>, std::uint64_t> texels;

  private:
    std::optional<Context>& context_;
    PassObserver* previous_ = nullptr;
};

// A CPU's branch predictor learns the comparisons of so few keys by heart, so that the second one of two like sorts is
// twice as fast; then each contender gets keys of its own.
constexpr std::size_t learned_keys = std::size_t{1} << 15;

template <class Of>
Spread spread(const std::vector<SortStats>& runs, Of of) {
    std::vector<double> values;
    for (const auto& run : runs) values.push_back(of(run));
    return Spread(std::move(values));
}

SortStats medians(const std::vector<SortStats>& runs) {
    auto parts = runs.front();
    for (auto part : {&SortStats::upload_ms, &SortStats::sort_ms, &SortStats::readback_ms, &SortStats::merge_ms,
                      &SortStats::total_ms})
        parts.*part = spread(runs, [part](const SortStats& run) { return run.*part; }).median;
    return parts;
}

}  // namespace

SortBench::SortBench(std::optional<Context> context, std::string why_no_context, std::vector<Contender> contenders,
                     int repeat)
    : context_(std::move(context)),
      why_no_context_(std::move(why_no_context)),
      contenders_(std::move(contenders)),
      repeat_(repeat),
      sorters_(contenders_.size()) {
    if (context_) limits_.emplace(*context_);
}

// The total is by this function's own clock, for all alike.
SortStats SortBench::sort(std::size_t i, Keys keys) {
    const auto& what = contenders_[i].what;
    const cpu::Stopwatch time;
    SortStats stats{.n = keys.size()};
    if (const auto* rival = std::get_if<const Rival*>(&what)) {
        (*rival)->sort(keys);
    } else if (std::get<Engine>(what) == Engine::Cpu) {
        stats = sort_on_cpu(keys);
    } else {
        stats = sorters_[i].value().sort(keys);
    }
    stats.total_ms = time.ms();
    return stats;
}

// A GPU that idles while the CPU sorts lowers its clock, an H100 from 1,980 to 345 MHz, and takes a while to raise it
// again. So it sorts, untimed, right before it is timed.
void SortBench::wake(std::size_t i, cpu::KeyBuffer keys) {
    constexpr double ms = 200;
    if (!sorters_[i] || context_->info().software) return;
    for (const cpu::Stopwatch time; time.ms() < ms;) sort(i, keys.keys());
}

void SortBench::warm_up(const SortCase& which, std::size_t i, Result& result) {
    try {
        if (const auto* engine = std::get_if<Engine>(&contenders_[i].what); engine && *engine != Engine::Cpu) {
            if (!context_) throw InvalidArgument(why_no_context_);
            if (!sorters_[i]) sorters_[i].emplace(*context_, SortOptions{.engine = *engine});
        }
        cpu::KeyBuffer buffer(which.type, which.distribution, which.n, 0);
        WrittenTexels written(context_);
        sort(i, buffer.keys());
        if (written.texels.empty()) return;
        result.least_ms = 0;
        context_->observe(nullptr);  // the limits are measured by passes, too
        for (const auto& [target, texels] : written.texels)
            *result.least_ms += limits_->least_ms(texels, target.first, target.second);
    } catch (const InvalidArgument& error) {
        result.refusal = error.what();
    } catch (const GlError& error) {
        result.refusal = error.what();
    }
}

CaseResult SortBench::run(const SortCase& which) {
    CaseResult found{which, {}};
    const auto count = contenders_.size();
    for (std::size_t i = 0; i < count; ++i) {
        found.results.push_back({.contender = &contenders_[i]});
        warm_up(which, i, found.results.back());
    }
    std::vector<std::vector<SortStats>> runs(count);
    for (int repetition = 1; repetition <= repeat_; ++repetition) {
        const auto fresh = [&](std::uint64_t seed) {
            return cpu::KeyBuffer(which.type, which.distribution, which.n, seed);
        };
        const auto seed = static_cast<std::uint64_t>(repetition) * count;
        auto input = fresh(seed);
        for (std::size_t turn = 0; turn < count; ++turn) {
            const auto i = (turn + static_cast<std::size_t>(repetition)) % count;  // nobody is always first
            if (!found.results[i].ran()) continue;
            if (which.n <= learned_keys && turn > 0) input = fresh(seed + turn);
            wake(i, input);
            auto buffer = input;
            const auto keys = buffer.keys();
            const auto sum = cpu::checksum(keys);
            runs[i].push_back(sort(i, keys));
            found.results[i].verified = found.results[i].verified && cpu::in_order(keys) && cpu::checksum(keys) == sum;
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        auto& result = found.results[i];
        if (!result.ran()) continue;
        result.parts = medians(runs[i]);
        const auto total = spread(runs[i], [](const SortStats& run) { return run.total_ms; });
        result.ms = total.median;
        result.low_ms = total.low;
        result.high_ms = total.high;
    }
    return found;
}

}  // namespace quadmill::detail::bench
