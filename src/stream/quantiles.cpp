#include "stream/quantiles_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
Quantiles<T>::State::State(const QuantileOptions& wanted, std::unique_ptr<WindowSorter> sorter)
    : window(window_for("Quantiles", wanted.eps, wanted.window)),
      intake(std::move(sorter), window),
      histogram(ErrorPlan::planned(wanted.eps, wanted.n, window)) {}

template <class T>
void Quantiles<T>::State::take(const Window<T>& sorted) {
    const detail::sort::Stopwatch time;
    auto summary = QuantileSummary::of(sorted, histogram.plan().max_error(1, sorted.size()));
    sample_ms += time.ms();
    histogram.add(std::move(summary));
    changed();
}

template <class T>
void Quantiles<T>::State::changed() {
    whole.reset();
    with_rest.reset();
    rest.clear();
}

template <class T>
void Quantiles<T>::State::settle() {
    intake.settle([this](const Window<T>& sorted) { take(sorted); });
}

// Without pruning, merging keeps the larger error of two; so the rest, too, may be off by all of eps.
template <class T>
const QuantileSummary& Quantiles<T>::State::settled() {
    settle();
    if (!whole) whole = histogram.all();
    const auto values = intake.rest();
    if (values.empty()) return *whole;
    if (!with_rest || with_rest->n() != whole->n() + values.size()) {
        const auto error = histogram.plan().eps * static_cast<double>(values.size());
        with_rest = QuantileSummary::merged(*whole, QuantileSummary::of(rest.of(values, intake.sorter()), error));
    }
    return *with_rest;
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
    state_->intake.add(values, [this](const Window<T>& sorted) { state_->take(sorted); });
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
    return answers<T>(state_->settled(), phis);
}

template <class T>
Count Quantiles<T>::rank(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Quantiles::rank: a NaN has no rank");
    const auto [lower, upper] = state_->settled().count_at_most(KeyOf<T>::key(value));
    return {lower, lower + (upper - lower) / 2, upper};
}

template <class T>
typename Quantiles<T>::Part Quantiles<T>::cdf(T value) const {
    if (n() == 0) throw InvalidArgument("Quantiles::cdf: there are no values yet");
    const auto count = rank(value);
    const auto part = [all = static_cast<double>(n())](std::uint64_t c) { return static_cast<double>(c) / all; };
    return {part(count.lower), part(count.estimate), part(count.upper)};
}

template <class T>
std::vector<Bar<T>> Quantiles<T>::histogram(std::size_t bars) const {
    if (bars == 0) throw InvalidArgument("Quantiles::histogram: there must be at least one bar");
    std::vector<Bar<T>> out;
    if (n() == 0) return out;
    const auto& summary = state_->settled();
    auto from = summary.entry(0).key;
    Count below{};
    for (std::size_t i = 1; i <= bars; ++i) {
        const double phi = static_cast<double>(i) / static_cast<double>(bars);
        const auto to =
            i == bars ? summary.entry(summary.size() - 1).key : summary.at_rank(rank_of(phi, summary.n())).key;
        if (to <= from && !out.empty()) continue;
        const auto at_most = rank(KeyOf<T>::value(to));
        out.push_back({KeyOf<T>::value(from),
                       KeyOf<T>::value(to),
                       {less(at_most.lower, below.upper), less(at_most.estimate, below.estimate),
                        less(at_most.upper, below.lower)}});
        below = at_most;
        from = to;
    }
    return out;
}

template <class T>
void Quantiles<T>::merge(const Quantiles& other) {
    if (&other == this) return merge(load(save()));
    check_merge("Quantiles::merge", n(), other.n());
    auto& from = *other.state_;
    from.settle();
    state_->histogram.raise_eps(other.eps());
    state_->histogram.merge(from.histogram);
    state_->changed();
    state_->intake.note(from.histogram.n(), from.intake.nans());
    add(from.intake.rest());
}

template <class T>
std::vector<std::byte> Quantiles<T>::save() const {
    state_->settle();
    Writer to({Kind::Quantiles, type_of<T>()});
    to.f64(state_->histogram.plan().eps);
    to.u64(state_->histogram.plan().levels);
    to.u64(state_->window);
    to.u64(nans());
    state_->histogram.write(to);
    write_values(to, state_->intake.rest());
    return to.take();
}

template <class T>
Quantiles<T> Quantiles<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    auto from = open<T>("Quantiles::load", bytes, Kind::Quantiles);
    const double eps = read_eps(from, 1e-9);
    const auto levels = from.u64();
    from.require(levels >= 1 && levels <= ErrorPlan::most_ids, "the levels");
    const auto window = read_window(from);
    const auto nans = from.u64();
    Quantiles loaded({.eps = eps, .n = {}, .window = window}, std::move(sorter));
    auto& state = *loaded.state_;
    state.histogram = ExponentialHistogram<QuantileSummary>::read(from, {eps, levels});
    from.require(nans <= most_values && state.histogram.n() <= most_values, "the number of values");
    state.intake.note(state.histogram.n(), nans);
    const auto rest = read_values<T>(from, window - 1);
    from.end();
    loaded.add(rest);
    return loaded;
}

template <class T>
std::size_t Quantiles<T>::summary_bytes() const {
    return state_->histogram.bytes();
}

template <class T>
std::size_t Quantiles<T>::bytes() const {
    const auto& s = *state_;
    return sizeof s + s.histogram.bytes() + s.intake.bytes() + s.rest.bytes() + (s.whole ? s.whole->bytes() : 0) +
           (s.with_rest ? s.with_rest->bytes() : 0);
}

template <class T>
StreamTimes Quantiles<T>::times() const {
    auto times = times_of(state_->intake.sorter());
    times.sample = state_->sample_ms;
    times.merge = state_->histogram.merge_ms();
    times.compress = state_->histogram.compress_ms();
    return times;
}

QUADMILL_FOR_EACH_TYPE(Quantiles)

}  // namespace quadmill
