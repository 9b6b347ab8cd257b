#include <algorithm>

#include "stream/frequencies_state.hpp"

namespace quadmill::detail::stream {

void Counts::merge(const Counts& other, double eps) {
    std::vector<FrequencySummary> counts(counts_.size());
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = FrequencySummary::merged(counts_[i], other.counts_[i]);
    eps_ = eps;
    for (auto& count : counts) count.prune(max_error(counts.front().n()));
    counts_ = std::move(counts);
}

void Counts::add(const WeightedKeys& keys) {
    auto all = FrequencySummary::merged(first(), FrequencySummary::of_counts(keys));
    all.prune(max_error(all.n()));
    counts_.front() = std::move(all);
}

std::size_t Counts::bytes() const {
    std::size_t bytes = 0;
    for (const auto& count : counts_) bytes += count.bytes();
    return bytes;
}

std::size_t Counts::memory() const {
    std::size_t bytes = counts_.capacity() * sizeof counts_[0] + lengths_.capacity() * sizeof lengths_[0];
    for (const auto& count : counts_) bytes += count.memory();
    return bytes;
}

void Counts::read(Reader& from) {
    counts_.front() = FrequencySummary::read(from);
    from.require(static_cast<double>(first().max_error()) <= max_error(n()), "the error of a count");
}

template <class Bits>
const Counts& CountedState<Bits>::settled() {
    intake.settle();
    if (intake.rest().empty()) return counts;
    if (!with_rest || with_rest->n() != n()) {
        const auto rest = intake.settle_all();
        with_rest = counts;
        with_rest->add(rest, times_of_counts, intake.share());
        intake.trim();
    }
    return *with_rest;
}

template <class Bits>
std::pair<Counts, Window<Bits>> CountedState<Bits>::compact() {
    const auto rest = intake.settle_all();
    if (rest.size() <= max_kept(counts.eps())) return {counts, rest};
    return {settled(), Window<Bits>(nullptr, 0, intake.rule())};
}

template <class Bits>
void CountedState<Bits>::merge(const std::string& function, CountedState& other, double eps) {
    check_merge(function, n(), other.n());
    const std::lock_guard lock(other.mutex);
    const auto [others, rest] = other.compact();
    intake.settle();
    auto merged = counts;
    merged.merge(others, eps);
    intake.keep(rest.values());  // if this or a line above throws, nothing is changed
    counts = std::move(merged);
    with_rest.reset();
    intake.add_counted(others.n(), other.nans());
}

template <class Bits>
void CountedState<Bits>::read_rest(Reader& from) {
    const auto rest = read_sorted(from, std::min<std::uint64_t>(window - 1, max_kept(counts.eps())), intake.rule());
    from.end();
    intake.add(rest);
}

template <class Bits>
std::size_t CountedState<Bits>::summary_bytes() {
    const std::lock_guard lock(mutex);
    intake.settle();
    return counts.bytes();
}

template <class Bits>
std::size_t CountedState<Bits>::bytes() {
    const std::lock_guard lock(mutex);
    return sizeof *this + counts.memory() + intake.bytes() + (with_rest ? with_rest->memory() : 0);
}

template <class Bits>
StreamTimes CountedState<Bits>::times() {
    const std::lock_guard lock(mutex);
    return times_of(intake.sorter(), times_of_counts);
}

// The incomplete window is saved unchanged, so it is counted exactly.
template <class Bits>
Count FrequenciesState<Bits>::count(Key key) {
    const std::lock_guard lock(this->mutex);
    const auto rest = this->intake.settle_all();
    const auto before = [&](auto is_before) {
        const auto all = rest.values();
        return static_cast<std::uint64_t>(
            std::partition_point(all.begin(), all.end(),
                                 [&](const Bits& v) { return is_before(this->intake.rule().key(bits_at(&v))); }) -
            all.begin());
    };
    const auto in_rest = before([key](Key k) { return k <= key; }) - before([key](Key k) { return k < key; });
    const auto [lower, upper] = this->counts.first().count(key);
    return count_of({lower + in_rest, upper + in_rest});
}

template <class Bits>
void FrequenciesState<Bits>::add_weighted(std::span<const Bits> values, std::span<const std::uint64_t> weights) {
    const WeightedKeys keys("Frequencies::add", this->intake, values, weights);
    this->intake.settle();
    this->counts.add(keys);
    this->with_rest.reset();
    this->intake.add_counted(keys.n(), keys.nans());
}

template <class Bits>
std::vector<std::byte> FrequenciesState<Bits>::save() {
    const std::lock_guard lock(this->mutex);
    const auto [all, rest] = this->compact();
    Writer to({Kind::Frequencies, this->intake.rule().type});
    to.f64(all.eps());
    to.u64(this->window);
    to.u64(this->nans());
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
    loaded->counts.read(from);
    from.require(loaded->window == window, "the window");
    loaded->intake.add_counted(loaded->counts.n(), nans);
    loaded->read_rest(from);
    return loaded;
}

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

QUADMILL_FOR_EACH_WIDTH(CountedState)
QUADMILL_FOR_EACH_WIDTH(FrequenciesState)

}  // namespace quadmill::detail::stream

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
Frequencies<T>::Frequencies(const FrequencyOptions& options, std::unique_ptr<WindowSorter> sorter)
    : Frequencies(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}

template <class T>
void Frequencies<T>::add(std::span<const T> values) {
    state().intake.add(as_bits(values));
}

template <class T>
void Frequencies<T>::add(T value) {
    state().intake.add_one(detail::cpu::KeyBits<T>::of(value));
}

template <class T>
void Frequencies<T>::add(std::span<const T> values, std::span<const std::uint64_t> weights) {
    state().add_weighted(as_bits(values), weights);
}

template <class T>
double Frequencies<T>::eps() const {
    return state().counts.eps();
}

template <class T>
std::vector<Frequent<T>> Frequencies<T>::frequent(double support) const {
    check_part("Frequencies::frequent", "support", support, eps());
    const std::lock_guard lock(state().mutex);
    return values_of<T>(frequent_in(state().settled().first(), min_count(support, n())));
}

template <class T>
Count Frequencies<T>::count(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Frequencies::count: NaNs are counted by nans()");
    return state().count(KeyOf<T>::key(value));
}

template <class T>
void Frequencies<T>::merge(const Frequencies& other) {
    if (&other == this) return merge(load(save()));
    state().merge("Frequencies::merge", other.state(), std::max(eps(), other.eps()));
}

template <class T>
Frequencies<T> Frequencies<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return Frequencies(State::load(rule_of<T>, bytes, std::move(sorter)));
}

QUADMILL_FOR_EACH_TYPE(Frequencies)

}  // namespace quadmill
