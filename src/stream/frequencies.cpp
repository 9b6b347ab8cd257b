#include <algorithm>

#include "stream/counted_state.hpp"

namespace quadmill::detail::stream {

const Counts& CountedState::settled() {
    intake.settle();
    if (intake.rest().empty()) return counts;
    if (!with_rest || with_rest->n() != n()) {
        const auto rest = intake.settle_all();
        with_rest = counts;
        with_rest->add(rest, own_times, intake.share());
        intake.trim();
    }
    return *with_rest;
}

std::pair<Counts, Window> CountedState::compact() {
    const auto rest = intake.settle_all();
    if (rest.size() <= max_kept(counts.eps())) return {counts, rest};
    return {settled(), Window({}, intake.rule())};
}

void CountedState::merge(const std::string& function, CountedState& other, double eps) {
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

void CountedState::read_rest(Reader& from, std::size_t saved_window, std::uint64_t nans) {
    from.require(window == saved_window, "the window");
    intake.add_counted(counts.n(), nans);
    const auto rest = read_sorted(from, std::min<std::uint64_t>(window - 1, max_kept(counts.eps())), intake.rule());
    from.end();
    intake.add(rest.values());
}

// The incomplete window is saved unchanged, so it is counted exactly.
Count FrequenciesState::count(Key key) {
    const std::lock_guard lock(mutex);
    const auto rest = intake.settle_all();
    const auto first = gallop(0, rest.size(), [&](std::size_t i) { return rest[i] < key; });
    const auto in_rest = gallop(first, rest.size(), [&](std::size_t i) { return rest[i] <= key; }) - first;
    const auto [lower, upper] = counts.first().count(key);
    return count_of({lower + in_rest, upper + in_rest});
}

void FrequenciesState::add_weighted(const Values& values, std::span<const std::uint64_t> weights) {
    const WeightedKeys keys("Frequencies::add", intake, values, weights);
    intake.settle();
    counts.add(keys);
    with_rest.reset();
    intake.add_counted(keys.n(), keys.nans());
}

std::vector<std::byte> FrequenciesState::save() {
    const auto [all, rest] = compact();
    Writer to({Kind::Frequencies, intake.rule().type});
    to.f64(all.eps());
    to.u64(window);
    to.u64(nans());
    all.write(to);
    write_sorted(to, rest);
    return to.take();
}

std::unique_ptr<FrequenciesState> FrequenciesState::load(const KeyRule& rule, std::span<const std::byte> bytes,
                                                         std::unique_ptr<WindowSorter> sorter) {
    auto from = open("Frequencies::load", bytes, Kind::Frequencies, rule.type);
    const double eps = read_eps(from, 1e-9);
    const auto window = read_window(from);
    const auto nans = from.u64();
    from.require(nans <= max_values, "the number of NaNs");
    auto loaded =
        std::make_unique<FrequenciesState>(rule, FrequencyOptions{.eps = eps, .window = window}, std::move(sorter));
    loaded->counts.read(from);
    loaded->read_rest(from, window, nans);
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

}  // namespace quadmill::detail::stream

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
Frequencies<T>::Frequencies(const FrequencyOptions& options, std::unique_ptr<WindowSorter> sorter)
    : Frequencies(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}

template <class T>
void Frequencies<T>::add(T value) {
    state().intake.add_one(detail::cpu::KeyBits<T>::of(value));
}

template <class T>
void Frequencies<T>::add(std::span<const T> values, std::span<const std::uint64_t> weights) {
    state().add_weighted(values, weights);
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
