#include "stream/frequencies_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

namespace {

// Counts the window. Counts may be off by a fraction of all values so far, including the window's.
template <class T>
void count_window(FrequencySummary& summary, const Window<T>& sorted, double eps, StreamTimes& times,
                  const Share& share) {
    const auto n = summary.n() + sorted.size();
    summary.add(
        sorted, eps * static_cast<double>(n), [](Key key) { return key; }, times, share);
}

}  // namespace

template <class T>
Frequencies<T>::State::State(const FrequencyOptions& wanted, std::unique_ptr<WindowSorter> sorter)
    : eps(wanted.eps),
      window(counted_window_for("Frequencies", wanted.eps, wanted.window, *sorter)),
      intake(std::move(sorter), window, *this) {}

template <class T>
void Frequencies<T>::State::take(const Windows<T>& sorted) {
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        count_window(summary, sorted[i], eps, times, intake.share());
        with_rest.reset();
    }
}

template <class T>
const FrequencySummary& Frequencies<T>::State::settled() {
    const auto rest = intake.settle_all();
    if (rest.size() == 0) return summary;
    if (!with_rest || with_rest->n() != summary.n() + rest.size()) {
        with_rest = summary;
        count_window(*with_rest, rest, eps, times, intake.share());
    }
    return *with_rest;
}

// What is saved. A long incomplete window is counted, a short one saved unchanged.
template <class T>
std::pair<FrequencySummary, Window<T>> Frequencies<T>::State::compact() {
    const auto rest = intake.settle_all();
    if (rest.size() <= max_kept(eps)) return {summary, rest};
    return {settled(), Window<T>(nullptr, 0)};
}

template <class T>
Frequencies<T>::Frequencies(const FrequencyOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>(options, std::move(sorter))) {}
template <class T>
Frequencies<T>::Frequencies(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
Frequencies<T>::Frequencies(Frequencies&&) noexcept = default;
template <class T>
Frequencies<T>& Frequencies<T>::operator=(Frequencies&&) noexcept = default;
template <class T>
Frequencies<T>::~Frequencies() = default;

template <class T>
void Frequencies<T>::add(std::span<const T> values) {
    state_->intake.add(values);
}

template <class T>
std::uint64_t Frequencies<T>::n() const {
    return state_->intake.n();
}

template <class T>
std::uint64_t Frequencies<T>::nans() const {
    return state_->intake.nans();
}

template <class T>
double Frequencies<T>::eps() const {
    return state_->eps;
}

template <class T>
std::vector<Frequent<T>> Frequencies<T>::frequent(double support) const {
    check_part("Frequencies::frequent", "support", support, eps());
    const std::lock_guard lock(state_->mutex);
    return frequent_of<T>(state_->settled(), min_count(support, n()));
}

// The incomplete window is saved unchanged, so it is counted exactly.
template <class T>
Count Frequencies<T>::count(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Frequencies::count: NaNs are counted by nans()");
    const std::lock_guard lock(state_->mutex);
    const auto rest = state_->intake.settle_all();
    const auto key = KeyOf<T>::key(value);
    const auto before = [&](auto is_before) {
        const auto all = rest.values();
        return static_cast<std::uint64_t>(
            std::partition_point(all.begin(), all.end(), [&](T v) { return is_before(KeyOf<T>::key(v)); }) -
            all.begin());
    };
    const auto in_rest = before([key](Key k) { return k <= key; }) - before([key](Key k) { return k < key; });
    const auto [lower, upper] = state_->summary.count(key);
    return count_of({lower + in_rest, upper + in_rest});
}

template <class T>
void Frequencies<T>::merge(const Frequencies& other) {
    if (&other == this) return merge(load(save()));
    check_merge("Frequencies::merge", n(), other.n());
    auto& from = *other.state_;
    const std::lock_guard lock(from.mutex);
    const auto [others, rest] = from.compact();
    auto& s = *state_;
    s.intake.settle();
    const auto eps = std::max(s.eps, from.eps);
    auto merged = FrequencySummary::merged(s.summary, others);
    merged.prune(eps * static_cast<double>(merged.n()));
    s.intake.keep(rest.values());  // if this or a line above throws, nothing is changed
    s.eps = eps;
    s.summary = std::move(merged);
    s.with_rest.reset();
    s.intake.add_counted(others.n(), from.intake.nans());
}

template <class T>
std::vector<std::byte> Frequencies<T>::save() const {
    const std::lock_guard lock(state_->mutex);
    const auto [summary, rest] = state_->compact();
    Writer to({Kind::Frequencies, type_of<T>()});
    to.f64(state_->eps);
    to.u64(state_->window);
    to.u64(nans());
    summary.write(to);
    write_sorted(to, rest);
    return to.take();
}

template <class T>
Frequencies<T> Frequencies<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    auto from = open<T>("Frequencies::load", bytes, Kind::Frequencies);
    const double eps = read_eps(from, 1e-9);
    const auto window = read_window(from);
    const auto nans = from.u64();
    from.require(nans <= max_values, "the number of NaNs");
    Frequencies loaded({.eps = eps, .window = window}, std::move(sorter));
    auto& state = *loaded.state_;
    state.summary = FrequencySummary::read(from);
    from.require(static_cast<double>(state.summary.max_error()) <= eps * static_cast<double>(state.summary.n()),
                 "the error of a count");
    from.require(state.window == window, "the window");
    state.intake.add_counted(state.summary.n(), nans);
    const auto rest = read_sorted<T>(from, std::min<std::uint64_t>(state.window - 1, max_kept(eps)));
    from.end();
    loaded.add(rest);
    return loaded;
}

template <class T>
std::size_t Frequencies<T>::summary_bytes() const {
    const std::lock_guard lock(state_->mutex);
    state_->intake.settle();
    return state_->summary.bytes();
}

template <class T>
std::size_t Frequencies<T>::bytes() const {
    const auto& s = *state_;
    const std::lock_guard lock(state_->mutex);
    return sizeof s + s.summary.memory() + s.intake.bytes() + (s.with_rest ? s.with_rest->memory() : 0);
}

template <class T>
StreamTimes Frequencies<T>::times() const {
    const std::lock_guard lock(state_->mutex);
    return times_of(state_->intake.sorter(), state_->times);
}

QUADMILL_FOR_EACH_TYPE(Frequencies)

}  // namespace quadmill
