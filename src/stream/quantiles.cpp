#include <algorithm>
#include <array>
#include <cmath>

#include "stream/quantiles_state.hpp"

namespace quadmill::detail::stream {

void Sums::add(const Sums& block) {
    if (block.n == 0) return;
    const auto all = static_cast<double>(n + block.n), part = static_cast<double>(block.n) / all;
    const auto apart = block.mean - mean;
    squares += block.squares + apart * apart * part * static_cast<double>(n);
    mean += apart * part;
    n += block.n;
}

// Sums of differences to one of the values are rounded less. Eight sums at a time become vector instructions.
template <class T>
void Sums::add(std::span<const T> values) {
    constexpr std::size_t lanes = 8;
    const auto near = std::ranges::find_if(values, [](T v) { return std::isfinite(number(v)); });
    const auto origin = near == values.end() ? 0 : number(*near);
    std::array<double, lanes> sums{}, squares_of{};
    const auto whole = values.size() / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes) {
        for (std::size_t k = 0; k < lanes; ++k) {
            const auto above = number(values[i + k]) - origin;
            sums[k] += above;
            squares_of[k] += above * above;
        }
    }
    Sums block;
    double sum = 0, square = 0;
    const auto add_from = [&](std::size_t first) {
        for (const T value : values.subspan(first)) {
            const auto above = number(value) - origin;
            if (std::isnan(above)) continue;
            ++block.n;
            sum += above;
            square += above * above;
        }
    };
    for (std::size_t k = 0; k < lanes; ++k) sum += sums[k], square += squares_of[k];
    block.n = whole;
    if (std::isnan(sum)) sum = square = 0, block.n = 0;  // there are NaNs, or infinite values of both signs
    add_from(block.n);
    if (block.n == 0) return;
    const auto size = static_cast<double>(block.n);
    block.mean = origin + sum / size;
    block.squares = std::max(square - sum * (sum / size), 0.0);
    add(block);
}

std::vector<Quantile<Key>> answers(const QuantileParts& summary, std::span<const double> phis) {
    std::vector<Quantile<Key>> out;
    for (const double phi : phis) {
        const auto rank = rank_of(phi, summary.n());
        const auto entry = summary.at_rank(rank);
        out.push_back({phi, entry.key, rank, entry.rank_min, entry.rank_max});
    }
    return out;
}

namespace {

Count middle_of(const Bounds& bounds) {
    return {bounds.lower, bounds.lower + (bounds.upper - bounds.lower) / 2, bounds.upper};
}

std::vector<Bar<Key>> bars_of(const QuantileParts& summary, std::size_t bars) {
    std::vector<Bar<Key>> out;
    auto from = summary.min();
    Count below{};
    for (std::size_t i = 1; i <= bars; ++i) {
        const double phi = static_cast<double>(i) / static_cast<double>(bars);
        const auto to = i == bars ? summary.greatest() : summary.at_rank(rank_of(phi, summary.n())).key;
        if (to <= from && !out.empty()) continue;
        const auto at_most = middle_of(summary.count_at_most(to));
        out.push_back({from,
                       to,
                       {saturating_sub(at_most.lower, below.upper), saturating_sub(at_most.estimate, below.estimate),
                        saturating_sub(at_most.upper, below.lower)}});
        below = at_most;
        from = to;
    }
    return out;
}

}  // namespace
}  // namespace quadmill::detail::stream

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
Quantiles<T>::Quantiles(const QuantileOptions& options, std::unique_ptr<WindowSorter> sorter)
    : Quantiles(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}

template <class T>
void Quantiles<T>::add(std::span<const T> values) {
    constexpr std::size_t piece = 4096;  // of which the cache keeps values until they are copied
    if (!state().sums) return state().intake.add(values);
    for (; !values.empty(); values = values.subspan(std::min(piece, values.size()))) {
        const auto some = values.first(std::min(piece, values.size()));
        state().intake.add(some);
        state().sums->add(some);
    }
}

template <class T>
void Quantiles<T>::add(T value) {
    state().intake.add_one(detail::cpu::KeyBits<T>::of(value));
    if (state().sums) state().sums->add(std::span<const T>(&value, 1));
}

template <class T>
void Quantiles<T>::add(std::span<const T> values, std::span<const std::uint64_t> weights) {
    state().add_weighted(values, weights);
    if (!state().sums) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (const auto value = number(values[i]); !std::isnan(value)) state().sums->add({weights[i], value, 0});
    }
}

template <class T>
double Quantiles<T>::sample_eps() const {
    return state().histogram.plan().max_error(1, 1);
}

template <class T>
void Quantiles<T>::add_sample(const RankSample<T>& sample) {
    state().add_sample(sample.n, sample.nans, sample.step, std::span(sample.values));
}

template <class T>
Tail Quantiles<T>::tail() const {
    return state().tail();
}

template <class T>
Moments Quantiles<T>::moments() const {
    return state().sums ? Moments::Kept : Moments::Off;
}

template <class T>
Stats<T> Quantiles<T>::stats() const {
    if (!state().sums)
        throw InvalidArgument("Quantiles::stats: no moments were kept; make every merged summary with Moments::Kept");
    const auto ends = quantiles({0, 1});
    const auto& sums = *state().sums;
    const auto others = static_cast<double>(std::max<std::uint64_t>(sums.n, 2) - 1);
    return {n(), ends[0].value, ends[1].value, sums.mean, sums.squares / others};
}

template <class T>
Quantile<T> Quantiles<T>::quantile(double phi) const {
    return quantiles(std::span<const double>(&phi, 1)).front();
}

template <class T>
std::vector<Quantile<T>> Quantiles<T>::quantiles(std::span<const double> phis) const {
    for (const double phi : phis) check_part("Quantiles::quantiles", "phi", phi);
    if (n() == 0) throw InvalidArgument("Quantiles::quantiles: there are no values yet");
    std::vector<Quantile<Key>> keys;
    state().ask(phis.size(), [&](const QuantileParts& all) { keys = answers(all, phis); });
    return values_of<T>(keys);
}

template <class T>
Count Quantiles<T>::rank(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Quantiles::rank: a NaN has no rank");
    Count count{};
    if (n() == 0) return count;
    state().ask(1, [&](const QuantileParts& all) { count = middle_of(all.count_at_most(KeyOf<T>::key(value))); });
    return count;
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
    state().ask(2 * bars, [&](const QuantileParts& all) {
        for (const auto& bar : bars_of(all, bars))
            out.push_back({KeyOf<T>::value(bar.from), KeyOf<T>::value(bar.to), bar.count});
    });
    return out;
}

template <class T>
void Quantiles<T>::merge(const Quantiles& other) {
    if (&other == this)  // the browser's rule of the type is another one than load() takes
        return merge(Quantiles(State::load(state().intake.rule(), save(), cpu_window_sorter(1))));
    state().merge(std::array{&other.state()});
}

template <class T>
void Quantiles<T>::merge(std::span<const Quantiles> others) {
    std::vector<State*> states;
    for (const auto& other : others) {
        if (&other == this) throw InvalidArgument("Quantiles::merge: a span that contains the summary itself");
        states.push_back(&other.state());
    }
    state().merge(states);
}

template <class T>
Quantiles<T> Quantiles<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return Quantiles(State::load(rule_of<T>, bytes, std::move(sorter)));
}

QUADMILL_FOR_EACH_TYPE(Quantiles)

}  // namespace quadmill
