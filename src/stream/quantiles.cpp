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
    : window(window_for("Quantiles", wanted.eps, wanted.window)),
      intake(std::move(sorter), window),
      histogram(ErrorPlan::planned(wanted.eps, wanted.n, window)) {}

template <class T>
void Quantiles<T>::State::take(const Window<T>& sorted) {
    const detail::cpu::Stopwatch time;
    auto summary = QuantileSummary::of(sorted, histogram.plan().max_error(1, sorted.size()), intake.share());
    sample_ms += time.ms();
    histogram.add(std::move(summary), 1, intake.share());
    changed();
}

template <class T>
void Quantiles<T>::State::changed() {
    of_rest.reset();
    of_all.reset();
    asked = 0;
}

template <class T>
void Quantiles<T>::State::settle() {
    intake.settle([this](const Window<T>& sorted) { take(sorted); });
}

// The errors of parts add up, and each part may be off by all of eps: so may the rest. Few ranks are found in the parts
// themselves; where many are asked for, it is faster to merge these first.
template <class T>
QuantileParts Quantiles<T>::State::settled(std::size_t ranks) {
    const auto rest = intake.settle_all([this](const Window<T>& sorted) { take(sorted); });
    if (rest.size() != (of_rest ? of_rest->n() : 0)) {
        changed();
        const auto error = histogram.plan().eps * static_cast<double>(rest.size());
        of_rest = QuantileSummary::of(rest, error, intake.share());
    }
    auto list = histogram.parts();
    if (of_rest) list.push_back(&*of_rest);
    const QuantileParts parts(list);
    constexpr std::size_t merging_pays = 1024;  // entries for each rank
    asked += ranks;
    if (list.size() < 2 || asked < parts.size() / merging_pays) return parts;
    if (!of_all) {
        of_all = histogram.all(intake.share());
        if (of_rest) of_all = QuantileSummary::merged(*of_all, *of_rest, {}, intake.share());
    }
    return QuantileParts({&*of_all});
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
    return answers<T>(state_->settled(phis.size()), phis);
}

template <class T>
Count Quantiles<T>::rank(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Quantiles::rank: a NaN has no rank");
    if (n() == 0) return {};
    return middle_of(state_->settled(1).count_at_most(KeyOf<T>::key(value)));
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
    const auto summary = state_->settled(2 * bars);
    auto from = summary.least();
    Count below{};
    for (std::size_t i = 1; i <= bars; ++i) {
        const double phi = static_cast<double>(i) / static_cast<double>(bars);
        const auto to = i == bars ? summary.greatest() : summary.at_rank(rank_of(phi, summary.n())).key;
        if (to <= from && !out.empty()) continue;
        const auto at_most = middle_of(summary.count_at_most(to));
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
    state_->histogram.merge(from.histogram, state_->intake.share());
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
    return sizeof s + s.histogram.bytes() + s.intake.bytes() + (s.of_rest ? s.of_rest->bytes() : 0) +
           (s.of_all ? s.of_all->bytes() : 0);
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
