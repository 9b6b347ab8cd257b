#include <algorithm>
#include <string>

#include "stream/quantiles_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

namespace {

Count middle_of(const Bounds& bounds) {
    return {bounds.lower, bounds.lower + (bounds.upper - bounds.lower) / 2, bounds.upper};
}

}  // namespace

template <class T>
Quantiles<T>::State::State(const QuantileOptions& wanted, std::unique_ptr<WindowSorter> sorter)
    : window(window_for("Quantiles", wanted.eps, wanted.window, *sorter)),
      intake(std::move(sorter), window, *this),
      histogram(ErrorPlan::planned(wanted.eps, wanted.n, window)) {
    plan_samples();
}

template <class T>
void Quantiles<T>::State::plan_samples() {
    const auto gap = QuantileSummary::gap_for(histogram.plan().max_error(1, window));
    intake.sample(std::min<std::uint64_t>(gap, std::max<std::size_t>(window, 2) - 1));
}

// A sample reads values that are far apart, and waits for memory.
template <class T>
void Quantiles<T>::State::take(const Windows<T>& sorted) {
    times.sample += histogram.add_windows(
        sorted.size(),
        [&](std::size_t i, const Share& share) {
            const auto one = sorted[i];
            if (const auto step = intake.step(); step > 0)
                return QuantileSummary::of_sample(
                    window, step, [&](std::size_t key) { return one[key]; }, share);
            return QuantileSummary::of(one, histogram.plan().max_error(1, one.size()), share);
        },
        intake.share());
    of_rest.reset();
}

// If nothing was dropped from complete windows, nothing is dropped from the rest. The errors of parts add up. A few
// ranks are found in the parts themselves; for many ranks it is faster to merge the parts first.
template <class T>
template <class Ask>
auto Quantiles<T>::State::ask(std::size_t ranks, Ask ask) {
    const std::lock_guard lock(mutex);
    const auto rest = intake.settle_all();
    if (!of_rest || of_rest->n() != rest.size()) {
        const detail::cpu::Stopwatch time;
        const double error = histogram.is_exact() ? 0 : histogram.plan().max_error(1, rest.size());
        of_rest = QuantileSummary::of(rest, error, intake.share());
        of_rest->pack();
        times.sample += time.ms();
    }
    auto list = histogram.parts();
    list.push_back(&*of_rest);
    const QuantileParts parts(list);
    constexpr std::size_t merging_pays = 1024;  // entries per rank
    if (list.size() < 2 || ranks < parts.size() / merging_pays) return ask(parts);
    const detail::cpu::Stopwatch time;
    const auto all = QuantileSummary::merged(histogram.all(intake.share()), *of_rest, {}, intake.share());
    times.merge += time.ms();
    return ask(QuantileParts({&all}));
}

template <class T>
template <class Use>
auto Quantiles<T>::State::compact(Use use) {
    const std::lock_guard lock(mutex);
    const auto rest = intake.settle_all();
    if (rest.size() <= max_kept(histogram.plan().eps)) return use(histogram, rest);
    auto buckets = histogram;
    const auto error = buckets.plan().max_error(1, rest.size());
    buckets.add(QuantileSummary::of(rest, error, intake.share()), 1, intake.share());
    return use(std::as_const(buckets), Window<T>(nullptr, 0));
}

template <class T>
Quantiles<T>::Quantiles(const QuantileOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>(options, std::move(sorter))) {}
template <class T>
Quantiles<T>::Quantiles(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
Quantiles<T>::Quantiles(Quantiles&&) noexcept = default;
template <class T>
Quantiles<T>& Quantiles<T>::operator=(Quantiles&&) noexcept = default;
template <class T>
Quantiles<T>::~Quantiles() = default;

template <class T>
void Quantiles<T>::add(std::span<const T> values) {
    state_->intake.add(values);
}

template <class T>
double Quantiles<T>::sample_eps() const {
    return state_->histogram.plan().max_error(1, 1);
}

template <class T>
void Quantiles<T>::add_sample(const RankSample<T>& sample) {
    const std::string function = "Quantiles::add_sample";
    auto& s = *state_;
    check_merge(function, n(), sample.n);
    check_merge(function, nans(), sample.nans);
    const auto& values = sample.values;
    const auto key = [&](std::size_t i) { return KeyOf<T>::key(values[i]); };
    if (sample.n > 0) {
        const auto max = QuantileSummary::gap_for(s.histogram.plan().max_error(1, sample.n));
        if (sample.step < 1 || sample.step > max)
            throw InvalidArgument(function + ": of " + std::to_string(sample.n) + " values, a step is from 1 to " +
                                  std::to_string(max) + " ranks, not " + std::to_string(sample.step));
    }
    const auto step = std::clamp<std::uint64_t>(sample.step, 1, std::max<std::uint64_t>(sample.n, 2) - 1);
    const auto size = QuantileSummary::steps(sample.n, step);
    if (values.size() != size)
        throw InvalidArgument(function + ": a sample of " + std::to_string(sample.n) + " values in steps of " +
                              std::to_string(step) + " has " + std::to_string(size) + ", not " +
                              std::to_string(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (KeyOf<T>::is_nan(values[i]) || (i > 0 && key(i) < key(i - 1)))
            throw InvalidArgument(function + ": values must ascend, and be numbers; value " + std::to_string(i) +
                                  " does not");
    }
    s.intake.settle();
    if (sample.n > 0) s.histogram.add(QuantileSummary::of_sample(sample.n, step, key), 1, s.intake.share());
    s.of_rest.reset();
    s.intake.add_counted(sample.n, sample.nans);
}

template <class T>
std::uint64_t Quantiles<T>::n() const {
    return state_->intake.n();
}

template <class T>
std::uint64_t Quantiles<T>::nans() const {
    return state_->intake.nans();
}

template <class T>
double Quantiles<T>::eps() const {
    return state_->histogram.plan().eps;
}

template <class T>
Quantile<T> Quantiles<T>::quantile(double phi) const {
    return quantiles(std::span<const double>(&phi, 1)).front();
}

template <class T>
std::vector<Quantile<T>> Quantiles<T>::quantiles(std::span<const double> phis) const {
    for (const double phi : phis) check_part("Quantiles::quantiles", "phi", phi);
    if (n() == 0) throw InvalidArgument("Quantiles::quantiles: there are no values yet");
    return state_->ask(phis.size(), [&](const QuantileParts& all) { return answers<T>(all, phis); });
}

template <class T>
Count Quantiles<T>::rank(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Quantiles::rank: a NaN has no rank");
    if (n() == 0) return {};
    return state_->ask(1, [&](const QuantileParts& all) { return middle_of(all.count_at_most(KeyOf<T>::key(value))); });
}

template <class T>
typename Quantiles<T>::Part Quantiles<T>::cdf(T value) const {
    if (n() == 0) throw InvalidArgument("Quantiles::cdf: there are no values yet");
    const auto count = rank(value);
    const auto part = [all = static_cast<double>(n())](std::uint64_t c) { return static_cast<double>(c) / all; };
    return {part(count.lower), part(count.estimate), part(count.upper)};
}

namespace {

template <class T>
std::vector<Bar<T>> bars_of(const QuantileParts& summary, std::size_t bars) {
    std::vector<Bar<T>> out;
    auto from = summary.min();
    Count below{};
    for (std::size_t i = 1; i <= bars; ++i) {
        const double phi = static_cast<double>(i) / static_cast<double>(bars);
        const auto to = i == bars ? summary.greatest() : summary.at_rank(rank_of(phi, summary.n())).key;
        if (to <= from && !out.empty()) continue;
        const auto at_most = middle_of(summary.count_at_most(to));
        out.push_back({KeyOf<T>::value(from),
                       KeyOf<T>::value(to),
                       {saturating_sub(at_most.lower, below.upper), saturating_sub(at_most.estimate, below.estimate),
                        saturating_sub(at_most.upper, below.lower)}});
        below = at_most;
        from = to;
    }
    return out;
}

}  // namespace

template <class T>
std::vector<Bar<T>> Quantiles<T>::histogram(std::size_t bars) const {
    if (bars == 0) throw InvalidArgument("Quantiles::histogram: there must be at least one bar");
    if (n() == 0) return {};
    return state_->ask(2 * bars, [&](const QuantileParts& all) { return bars_of<T>(all, bars); });
}

template <class T>
void Quantiles<T>::merge(const Quantiles& other) {
    if (&other == this) return merge(load(save()));
    check_merge("Quantiles::merge", n(), other.n());
    other.state_->compact([&](const auto& buckets, const Window<T>& rest) {
        auto& s = *state_;
        auto merged = s.histogram;
        merged.raise_eps(buckets.plan().eps);
        merged.merge(buckets, s.intake.share());
        s.intake.keep(rest.values());  // if this or a line above throws, nothing is changed
        s.histogram = std::move(merged);
        s.of_rest.reset();
        s.intake.add_counted(buckets.n(), other.nans());
    });
}

template <class T>
std::vector<std::byte> Quantiles<T>::save() const {
    return state_->compact([&](const auto& buckets, const Window<T>& rest) {
        Writer to({Kind::Quantiles, type_of<T>()});
        to.f64(buckets.plan().eps);
        to.u64(buckets.plan().levels);
        to.u64(state_->window);
        to.u64(nans());
        buckets.write(to);
        write_sorted(to, rest);
        return to.take();
    });
}

template <class T>
Quantiles<T> Quantiles<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    auto from = open<T>("Quantiles::load", bytes, Kind::Quantiles);
    const double eps = read_eps(from, 1e-9);
    const auto levels = from.u64();
    from.require(levels >= 1 && levels <= ErrorPlan::max_ids, "the levels");
    const auto window = read_window(from);
    const auto nans = from.u64();
    Quantiles loaded({.eps = eps, .n = {}, .window = window}, std::move(sorter));
    auto& state = *loaded.state_;
    state.histogram = State::Histogram::read(from, ErrorPlan::of_stream(eps, levels));
    state.plan_samples();
    from.require(nans <= max_values && state.histogram.n() <= max_values, "the number of values");
    state.intake.add_counted(state.histogram.n(), nans);
    const auto rest = read_sorted<T>(from, std::min<std::uint64_t>(window - 1, max_kept(eps)));
    from.end();
    loaded.add(rest);
    return loaded;
}

template <class T>
std::size_t Quantiles<T>::summary_bytes() const {
    const std::lock_guard lock(state_->mutex);
    state_->intake.settle();
    return state_->histogram.bytes();
}

template <class T>
std::size_t Quantiles<T>::bytes() const {
    const auto& s = *state_;
    const std::lock_guard lock(state_->mutex);
    return sizeof s + s.histogram.memory() + s.intake.bytes() + (s.of_rest ? s.of_rest->bytes() : 0);
}

template <class T>
StreamTimes Quantiles<T>::times() const {
    const std::lock_guard lock(state_->mutex);
    auto times = times_of(state_->intake.sorter(), state_->times);
    times.merge += state_->histogram.merge_ms();
    times.compress += state_->histogram.compress_ms();
    return times;
}

QUADMILL_FOR_EACH_TYPE(Quantiles)

}  // namespace quadmill
