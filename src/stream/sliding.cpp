#include "stream/counted_state.hpp"
#include "stream/quantiles_state.hpp"
#include "stream/sliding_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
SlidingQuantiles<T>::SlidingQuantiles(const SlidingOptions& options, std::unique_ptr<WindowSorter> sorter)
    : SlidingQuantiles(std::make_unique<State>(rule_of<T>, "SlidingQuantiles", options, std::move(sorter))) {}

template <class T>
const SlidingOptions& SlidingQuantiles<T>::options() const {
    return state().options();
}

template <class T>
SlidingQuantiles<T> SlidingQuantiles<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return SlidingQuantiles(State::load(rule_of<T>, "SlidingQuantiles::load", bytes, std::move(sorter)));
}

template <class T>
Quantile<T> SlidingQuantiles<T>::quantile(double phi, std::optional<std::uint64_t> width) const {
    return quantiles(std::span<const double>(&phi, 1), width).front();
}

// If values are missing, a rank may be higher by their number.
template <class T>
std::vector<Quantile<T>> SlidingQuantiles<T>::quantiles(std::span<const double> phis,
                                                        std::optional<std::uint64_t> width) const {
    const auto wanted = state().width(width), w = std::min(wanted, n());
    for (const double phi : phis) check_part("SlidingQuantiles::quantiles", "phi", phi);
    if (w == 0) throw InvalidArgument("SlidingQuantiles::quantiles: there are no values yet");
    const auto of_values = [&](const auto& sorted) {
        std::vector<Quantile<Key>> out;
        for (const double phi : phis) {
            const auto rank = rank_of(phi, w);
            out.push_back({phi, sorted[static_cast<std::size_t>(rank - 1)], rank, rank, rank});
        }
        return out;
    };
    return values_of<T>(state().ask(wanted, phis.size(), of_values, [&](const auto& covered) {
        auto out = answers(QuantileParts(covered.parts), phis);
        for (auto& q : out) {
            q.rank = rank_of(q.phi, w);
            q.rank_upper += covered.missing;
        }
        return out;
    }));
}

template <class T>
Quantiles<T> SlidingQuantiles<T>::summary(std::optional<std::uint64_t> width) const {
    const auto wanted = state().width(width);
    Quantiles<T> out({.eps = options().eps});
    if (n() == 0) return out;
    auto sum = state().sum(wanted);
    out.state().intake.add_counted(sum.n(), 0);
    out.state().histogram.add(std::move(sum), ErrorPlan::max_ids);
    return out;
}

QUADMILL_FOR_EACH_TYPE(SlidingQuantiles)

template <class T>
SlidingFrequencies<T>::SlidingFrequencies(const SlidingOptions& options, std::unique_ptr<WindowSorter> sorter)
    : SlidingFrequencies(std::make_unique<State>(rule_of<T>, "SlidingFrequencies", options, std::move(sorter))) {}

template <class T>
const SlidingOptions& SlidingFrequencies<T>::options() const {
    return state().options();
}

template <class T>
SlidingFrequencies<T> SlidingFrequencies<T>::load(std::span<const std::byte> bytes,
                                                  std::unique_ptr<WindowSorter> sorter) {
    return SlidingFrequencies(State::load(rule_of<T>, "SlidingFrequencies::load", bytes, std::move(sorter)));
}

// If values are missing, a count may be too low by their number.
template <class T>
std::vector<Frequent<T>> SlidingFrequencies<T>::frequent(double support, std::optional<std::uint64_t> width) const {
    check_part("SlidingFrequencies::frequent", "support", support, options().eps);
    const auto wanted = state().width(width), w = std::min(wanted, n());
    if (w == 0) return {};
    const auto min = min_count(support, w);
    const auto of_values = [&](const auto& sorted) {
        return frequent_in(FrequencySummary::of(sorted, static_cast<double>(min)), min);
    };
    return values_of<T>(state().ask(wanted, State::merged, of_values, [&](const auto& covered) {
        return frequent_in(*covered.parts.front(), min, covered.missing);
    }));
}

template <class T>
Frequencies<T> SlidingFrequencies<T>::summary(std::optional<std::uint64_t> width) const {
    const auto wanted = state().width(width);
    Frequencies<T> out({.eps = options().eps});
    if (n() == 0) return out;
    auto& counts = out.state().counts;
    counts = Counts(counts.eps(), state().sum(wanted));
    out.state().intake.add_counted(counts.n(), 0);
    return out;
}

QUADMILL_FOR_EACH_TYPE(SlidingFrequencies)

}  // namespace quadmill
