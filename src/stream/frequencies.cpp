#include "stream/frequencies_state.hpp"

namespace quadmill::detail::stream {

namespace {

// Counts the window. Counts may be off by a fraction of all values so far, including the window's.
template <class Bits>
void count_window(FrequencySummary& summary, const Window<Bits>& sorted, double eps, StreamTimes& times,
                  const Share& share) {
    const auto n = summary.n() + sorted.size();
    summary.add(
        sorted, eps * static_cast<double>(n), [](Key key) { return key; }, times, share);
}

}  // namespace

template <class Bits>
FrequenciesState<Bits>::FrequenciesState(const KeyRule<Bits>& rule, const FrequencyOptions& wanted,
                                         std::unique_ptr<WindowSorter> sorter)
    : eps(wanted.eps),
      window(counted_window_for("Frequencies", wanted.eps, wanted.window, *sorter)),
      intake(rule, std::move(sorter), window, *this) {}

template <class Bits>
void FrequenciesState<Bits>::take(const Windows<Bits>& sorted) {
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        count_window(summary, sorted[i], eps, times, intake.share());
        with_rest.reset();
    }
}

template <class Bits>
const FrequencySummary& FrequenciesState<Bits>::settled() {
    intake.settle();
    if (intake.rest().empty()) return summary;
    if (!with_rest || with_rest->n() != summary.n() + intake.rest().size()) {
        const auto rest = intake.settle_all();
        with_rest = summary;
        count_window(*with_rest, rest, eps, times, intake.share());
        intake.trim();
    }
    return *with_rest;
}

// What is saved. A long incomplete window is counted, a short one saved unchanged.
template <class Bits>
std::pair<FrequencySummary, Window<Bits>> FrequenciesState<Bits>::compact() {
    const auto rest = intake.settle_all();
    if (rest.size() <= max_kept(eps)) return {summary, rest};
    return {settled(), Window<Bits>(nullptr, 0, intake.rule())};
}

// The incomplete window is saved unchanged, so it is counted exactly.
template <class Bits>
Count FrequenciesState<Bits>::count(Key key) {
    const std::lock_guard lock(mutex);
    const auto rest = intake.settle_all();
    const auto& rule = intake.rule();
    const auto before = [&](auto is_before) {
        const auto all = rest.values();
        return static_cast<std::uint64_t>(
            std::partition_point(all.begin(), all.end(),
                                 [&](const Bits& v) { return is_before(rule.key(bits_at(&v))); }) -
            all.begin());
    };
    const auto in_rest = before([key](Key k) { return k <= key; }) - before([key](Key k) { return k < key; });
    const auto [lower, upper] = summary.count(key);
    return count_of({lower + in_rest, upper + in_rest});
}

template <class Bits>
void FrequenciesState<Bits>::add_weighted(std::span<const Bits> values, std::span<const std::uint64_t> weights) {
    const std::string function = "Frequencies::add";
    const WeightedKeys keys(function, intake.rule(), values, weights);
    check_merge(function, intake.n(), keys.n());
    check_merge(function, intake.nans(), keys.nans());
    intake.settle();
    auto all = FrequencySummary::merged(summary, FrequencySummary::of_counts(keys));
    all.prune(eps * static_cast<double>(all.n()));
    summary = std::move(all);
    with_rest.reset();
    intake.add_counted(keys.n(), keys.nans());
}

template <class Bits>
void FrequenciesState<Bits>::merge(FrequenciesState& other) {
    check_merge("Frequencies::merge", intake.n(), other.intake.n());
    const std::lock_guard lock(other.mutex);
    const auto [others, rest] = other.compact();
    intake.settle();
    const auto max_eps = std::max(eps, other.eps);
    auto merged = FrequencySummary::merged(summary, others);
    merged.prune(max_eps * static_cast<double>(merged.n()));
    intake.keep(rest.values());  // if this or a line above throws, nothing is changed
    eps = max_eps;
    summary = std::move(merged);
    with_rest.reset();
    intake.add_counted(others.n(), other.intake.nans());
}

template <class Bits>
std::vector<std::byte> FrequenciesState<Bits>::save() {
    const std::lock_guard lock(mutex);
    const auto [all, rest] = compact();
    Writer to({Kind::Frequencies, intake.rule().type});
    to.f64(eps);
    to.u64(window);
    to.u64(intake.nans());
    all.write(to);
    write_sorted(to, rest);
    return to.take();
}

template <class Bits>
std::unique_ptr<FrequenciesState<Bits>> FrequenciesState<Bits>::load(const KeyRule<Bits>& rule,
                                                                     std::span<const std::byte> bytes,
                                                                     std::unique_ptr<WindowSorter> sorter) {
    auto from = open("Frequencies::load", bytes, Kind::Frequencies, rule.type);
    const double eps = read_eps(from, 1e-9);
    const auto window = read_window(from);
    const auto nans = from.u64();
    from.require(nans <= max_values, "the number of NaNs");
    auto loaded =
        std::make_unique<FrequenciesState>(rule, FrequencyOptions{.eps = eps, .window = window}, std::move(sorter));
    auto& summary = loaded->summary = FrequencySummary::read(from);
    from.require(static_cast<double>(summary.max_error()) <= eps * static_cast<double>(summary.n()),
                 "the error of a count");
    from.require(loaded->window == window, "the window");
    loaded->intake.add_counted(summary.n(), nans);
    const auto rest = read_sorted(from, std::min<std::uint64_t>(window - 1, max_kept(eps)), rule);
    from.end();
    loaded->intake.add(rest);
    return loaded;
}

template <class Bits>
std::size_t FrequenciesState<Bits>::summary_bytes() {
    const std::lock_guard lock(mutex);
    intake.settle();
    return summary.bytes();
}

template <class Bits>
std::size_t FrequenciesState<Bits>::bytes() {
    const std::lock_guard lock(mutex);
    return sizeof *this + summary.memory() + intake.bytes() + (with_rest ? with_rest->memory() : 0);
}

template <class Bits>
StreamTimes FrequenciesState<Bits>::all_times() {
    const std::lock_guard lock(mutex);
    return times_of(intake.sorter(), times);
}

QUADMILL_FOR_EACH_WIDTH(FrequenciesState)

std::vector<FrequencySummary::Entry> frequent_in(const FrequencySummary& summary, std::uint64_t min,
                                                 std::uint64_t missing) {
    std::vector<FrequencySummary::Entry> out;
    for (const auto& entry : summary.entries()) {
        const auto missed = entry.missed + missing;
        if (entry.count + missed >= min) out.push_back({entry.key, entry.count, missed});
    }
    // Keys differ. std::partial_sort() is a heap sort, 4 KB less of the browser's module than std::sort().
    std::partial_sort(out.begin(), out.end(), out.end(), [](const auto& a, const auto& b) {
        return a.count != b.count ? a.count > b.count : a.key < b.key;
    });
    return out;
}

}  // namespace quadmill::detail::stream

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
Frequencies<T>::Frequencies(const FrequencyOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}
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
    state_->intake.add(as_bits(values));
}

template <class T>
void Frequencies<T>::add(T value) {
    state_->intake.add_one(detail::cpu::KeyBits<T>::of(value));
}

template <class T>
void Frequencies<T>::add(std::span<const T> values, std::span<const std::uint64_t> weights) {
    state_->add_weighted(as_bits(values), weights);
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
    return values_of<T>(frequent_in(state_->settled(), min_count(support, n())));
}

template <class T>
Count Frequencies<T>::count(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Frequencies::count: NaNs are counted by nans()");
    return state_->count(KeyOf<T>::key(value));
}

template <class T>
void Frequencies<T>::merge(const Frequencies& other) {
    if (&other == this) return merge(load(save()));
    state_->merge(*other.state_);
}

template <class T>
std::vector<std::byte> Frequencies<T>::save() const {
    return state_->save();
}

template <class T>
Frequencies<T> Frequencies<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return Frequencies(State::load(rule_of<T>, bytes, std::move(sorter)));
}

template <class T>
std::size_t Frequencies<T>::summary_bytes() const {
    return state_->summary_bytes();
}

template <class T>
std::size_t Frequencies<T>::bytes() const {
    return state_->bytes();
}

template <class T>
StreamTimes Frequencies<T>::times() const {
    return state_->all_times();
}

QUADMILL_FOR_EACH_TYPE(Frequencies)

}  // namespace quadmill
