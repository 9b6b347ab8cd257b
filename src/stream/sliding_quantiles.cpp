#include "stream/quantiles_state.hpp"
#include "stream/sliding_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
struct SlidingQuantiles<T>::State : SlidingState<T, QuantileSummary> {
    using SlidingState<T, QuantileSummary>::SlidingState;
};

template <class T>
SlidingQuantiles<T>::SlidingQuantiles(const SlidingOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>("SlidingQuantiles", options, std::move(sorter))) {}
template <class T>
SlidingQuantiles<T>::SlidingQuantiles(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
SlidingQuantiles<T>::SlidingQuantiles(SlidingQuantiles&&) noexcept = default;
template <class T>
SlidingQuantiles<T>& SlidingQuantiles<T>::operator=(SlidingQuantiles&&) noexcept = default;
template <class T>
SlidingQuantiles<T>::~SlidingQuantiles() = default;

template <class T>
void SlidingQuantiles<T>::add(std::span<const T> values) {
    state_->add(values);
}

template <class T>
std::uint64_t SlidingQuantiles<T>::n() const {
    return state_->n();
}

template <class T>
std::uint64_t SlidingQuantiles<T>::nans() const {
    return state_->nans();
}

template <class T>
const SlidingOptions& SlidingQuantiles<T>::options() const {
    return state_->options();
}

template <class T>
std::vector<std::byte> SlidingQuantiles<T>::save() const {
    return state_->save(Kind::SlidingQuantiles);
}

template <class T>
SlidingQuantiles<T> SlidingQuantiles<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return SlidingQuantiles(
        State::template load<State>("SlidingQuantiles::load", bytes, Kind::SlidingQuantiles, std::move(sorter)));
}

template <class T>
std::size_t SlidingQuantiles<T>::bytes() const {
    return state_->bytes();
}

template <class T>
std::size_t SlidingQuantiles<T>::summary_bytes() const {
    return state_->summary_bytes();
}

template <class T>
StreamTimes SlidingQuantiles<T>::times() const {
    return state_->times();
}

template <class T>
Quantile<T> SlidingQuantiles<T>::quantile(double phi, std::optional<std::uint64_t> width) const {
    return quantiles(std::span<const double>(&phi, 1), width).front();
}

// If values are missing, a rank may be higher by their number.
template <class T>
std::vector<Quantile<T>> SlidingQuantiles<T>::quantiles(std::span<const double> phis,
                                                        std::optional<std::uint64_t> width) const {
    const auto wanted = state_->width(width), w = std::min(wanted, n());
    for (const double phi : phis) check_part("SlidingQuantiles::quantiles", "phi", phi);
    if (w == 0) throw InvalidArgument("SlidingQuantiles::quantiles: there are no values yet");
    const auto of_values = [&](const Window<T>& sorted) {
        std::vector<Quantile<T>> out;
        for (const double phi : phis) {
            const auto rank = rank_of(phi, w);
            out.push_back({phi, KeyOf<T>::value(sorted[static_cast<std::size_t>(rank - 1)]), rank, rank, rank});
        }
        return out;
    };
    return state_->ask(wanted, of_values, [&](const auto& covered) {
        auto out = answers<T>(QuantileParts({&covered.summary}), phis);
        for (auto& q : out) {
            q.rank = rank_of(q.phi, w);
            q.rank_upper += covered.missing;
        }
        return out;
    });
}

template <class T>
Quantiles<T> SlidingQuantiles<T>::summary(std::optional<std::uint64_t> width) const {
    const auto wanted = state_->width(width);
    Quantiles<T> out({.eps = options().eps});
    if (n() == 0) return out;
    state_->ask(wanted, [&](const auto& covered) {
        out.state_->histogram.add(covered.summary, ErrorPlan::max_ids);
        out.state_->intake.add_counted(covered.summary.n(), 0);
    });
    return out;
}

QUADMILL_FOR_EACH_TYPE(SlidingQuantiles)

}  // namespace quadmill
