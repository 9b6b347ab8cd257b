#include "stream/frequencies_state.hpp"
#include "stream/sliding_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

namespace detail::stream {

template class SlidingState<std::uint16_t, FrequencySummary>;
template class SlidingState<std::uint32_t, FrequencySummary>;
template class SlidingState<std::uint64_t, FrequencySummary>;

}  // namespace detail::stream

template <class T>
SlidingFrequencies<T>::SlidingFrequencies(const SlidingOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>(rule_of<T>, "SlidingFrequencies", options, std::move(sorter))) {}
template <class T>
SlidingFrequencies<T>::SlidingFrequencies(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
SlidingFrequencies<T>::SlidingFrequencies(SlidingFrequencies&&) noexcept = default;
template <class T>
SlidingFrequencies<T>& SlidingFrequencies<T>::operator=(SlidingFrequencies&&) noexcept = default;
template <class T>
SlidingFrequencies<T>::~SlidingFrequencies() = default;

template <class T>
void SlidingFrequencies<T>::add(std::span<const T> values) {
    state_->add(as_bits(values));
}

template <class T>
std::uint64_t SlidingFrequencies<T>::n() const {
    return state_->n();
}

template <class T>
std::uint64_t SlidingFrequencies<T>::nans() const {
    return state_->nans();
}

template <class T>
const SlidingOptions& SlidingFrequencies<T>::options() const {
    return state_->options();
}

template <class T>
std::vector<std::byte> SlidingFrequencies<T>::save() const {
    return state_->save(Kind::SlidingFrequencies);
}

template <class T>
SlidingFrequencies<T> SlidingFrequencies<T>::load(std::span<const std::byte> bytes,
                                                  std::unique_ptr<WindowSorter> sorter) {
    return SlidingFrequencies(
        State::load(rule_of<T>, "SlidingFrequencies::load", bytes, Kind::SlidingFrequencies, std::move(sorter)));
}

template <class T>
std::size_t SlidingFrequencies<T>::bytes() const {
    return state_->bytes();
}

template <class T>
std::size_t SlidingFrequencies<T>::summary_bytes() const {
    return state_->summary_bytes();
}

template <class T>
StreamTimes SlidingFrequencies<T>::times() const {
    return state_->times();
}

// If values are missing, a count may be too low by their number.
template <class T>
std::vector<Frequent<T>> SlidingFrequencies<T>::frequent(double support, std::optional<std::uint64_t> width) const {
    check_part("SlidingFrequencies::frequent", "support", support, options().eps);
    const auto wanted = state_->width(width), w = std::min(wanted, n());
    if (w == 0) return {};
    const auto min = min_count(support, w);
    const auto of_values = [&](const auto& sorted) {
        return frequent_in(FrequencySummary::of(sorted, static_cast<double>(min)), min);
    };
    return values_of<T>(state_->ask(wanted, of_values, [&](const auto& covered) {
        return frequent_in(covered.summary, min, covered.missing);
    }));
}

template <class T>
Frequencies<T> SlidingFrequencies<T>::summary(std::optional<std::uint64_t> width) const {
    const auto wanted = state_->width(width);
    Frequencies<T> out({.eps = options().eps});
    if (n() == 0) return out;
    out.state_->summary = state_->ask(wanted, [](const auto& covered) { return covered.summary; });
    out.state_->intake.add_counted(out.state_->summary.n(), 0);
    return out;
}

QUADMILL_FOR_EACH_TYPE(SlidingFrequencies)

}  // namespace quadmill
