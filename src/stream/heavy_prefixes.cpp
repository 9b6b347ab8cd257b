#include <algorithm>
#include <functional>
#include <string>

#include "stream/heavy_prefixes_state.hpp"

namespace quadmill::detail::stream {

namespace {

template <class Bits>
unsigned bits_of(const KeyRule<Bits>& rule) {
    return static_cast<unsigned>(8 * rule.raw_bytes());
}

}  // namespace

const HeavyPrefixOptions& checked(const HeavyPrefixOptions& options, unsigned bits) {
    check_eps("HeavyPrefixes", options.eps, 1e-6);
    check_part("HeavyPrefixes", "support", options.support, 2 * options.eps);
    const auto& lengths = options.lengths;
    const bool ascend = std::is_sorted(lengths.begin(), lengths.end(), std::less_equal<>());
    if (lengths.empty() || !ascend || lengths.front() < 0 || lengths.back() > static_cast<int>(bits)) {
        throw InvalidArgument("HeavyPrefixes: the lengths of prefixes must ascend, be from 0 to " +
                              std::to_string(bits) + ", and at least one");
    }
    return options;
}

double each_eps(const HeavyPrefixOptions& options) {
    return options.eps / (1 + 2 / options.support);
}

void PrefixLevels::merge(const PrefixLevels& other, const HeavyPrefixOptions& options) {
    std::vector<FrequencySummary> counts(counts_.size());
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = FrequencySummary::merged(counts_[i], other.counts_[i]);
    eps_ = each_eps(options);
    for (auto& count : counts) count.prune(max_error(counts.front().n()));
    counts_ = std::move(counts);
}

std::size_t PrefixLevels::bytes() const {
    std::size_t bytes = 0;
    for (const auto& count : counts_) bytes += count.bytes();
    return bytes;
}

std::size_t PrefixLevels::memory() const {
    std::size_t bytes = counts_.capacity() * sizeof counts_[0] + lengths_.capacity() * sizeof lengths_[0];
    for (const auto& count : counts_) bytes += count.memory();
    return bytes;
}

void PrefixLevels::read(Reader& from) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        from.keys_up_to(prefix(greatest(), lengths_[i]));
        auto& count = counts_[i] = FrequencySummary::read(from);
        from.require(count.n() == n() && static_cast<double>(count.max_error()) <= max_error(n()),
                     "the counts of a length");
    }
    from.keys_up_to(greatest());
}

std::vector<HeavyPrefix<Key>> PrefixLevels::heavy(double support, HeavyRule rule) const {
    const auto of_length = [&](std::size_t i) {
        const auto under = greatest() - first_of(prefix(greatest(), lengths_[i]), lengths_[i]);
        std::vector<Counted<Key>> all;
        for (const auto& entry : counts_[i].entries()) {
            const auto first = first_of(entry.key, lengths_[i]);
            all.push_back({first, first + under, {entry.count, entry.count + entry.missed}});
        }
        return all;
    };
    return heavy_of<Key>(lengths_, of_length, min_count(support, n()), rule);
}

template <class Bits>
HeavyPrefixesState<Bits>::HeavyPrefixesState(const KeyRule<Bits>& rule, const HeavyPrefixOptions& wanted,
                                             std::unique_ptr<WindowSorter> sorter)
    : options(checked(wanted, bits_of(rule))),
      window(
          counted_window_for("HeavyPrefixes", std::max(each_eps(wanted), min_eps_of_window), wanted.window, *sorter)),
      intake(rule, std::move(sorter), window, *this),
      levels(options, bits_of(rule)) {}

template <class Bits>
void HeavyPrefixesState<Bits>::take(const Windows<Bits>& sorted) {
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        levels.add(sorted[i], times);
        with_rest.reset();
    }
}

template <class Bits>
const PrefixLevels& HeavyPrefixesState<Bits>::settled() {
    const auto rest = intake.settle_all();
    if (rest.size() == 0) return levels;
    if (!with_rest || with_rest->n() != levels.n() + rest.size()) {
        with_rest = levels;
        with_rest->add(rest, times);
    }
    return *with_rest;
}

template <class Bits>
std::pair<PrefixLevels, Window<Bits>> HeavyPrefixesState<Bits>::compact() {
    const auto rest = intake.settle_all();
    if (rest.size() <= max_kept(each_eps(options))) return {levels, rest};
    return {settled(), Window<Bits>(nullptr, 0, intake.rule())};
}

template <class Bits>
void HeavyPrefixesState<Bits>::merge(HeavyPrefixesState& other) {
    if (options.lengths != other.options.lengths)
        throw InvalidArgument("HeavyPrefixes::merge: both must have the same lengths of prefixes");
    check_merge("HeavyPrefixes::merge", intake.n(), other.intake.n());
    const std::lock_guard lock(other.mutex);
    const auto [others, rest] = other.compact();
    intake.settle();
    // Both errors must hold for the support that both can be asked for.
    auto both = options;
    both.support = std::max(options.support, other.options.support);
    both.eps = std::max(options.eps, other.options.eps);
    auto merged = levels;
    merged.merge(others, both);
    intake.keep(rest.values());  // if this or a line above throws, nothing is changed
    levels = std::move(merged);
    options = std::move(both);
    with_rest.reset();
    intake.add_counted(others.n(), 0);
}

template <class Bits>
std::vector<std::byte> HeavyPrefixesState<Bits>::save() {
    const std::lock_guard lock(mutex);
    const auto [all, rest] = compact();
    Writer to({Kind::HeavyPrefixes, intake.rule().type});
    to.f64(options.eps);
    to.f64(options.support);
    to.u64(window);
    to.u64(options.lengths.size());
    for (const int length : options.lengths) to.u64(static_cast<std::uint64_t>(length));
    all.write(to);
    write_sorted(to, rest);
    return to.take();
}

template <class Bits>
std::unique_ptr<HeavyPrefixesState<Bits>> HeavyPrefixesState<Bits>::load(const KeyRule<Bits>& rule,
                                                                         std::span<const std::byte> bytes,
                                                                         std::unique_ptr<WindowSorter> sorter) {
    auto from = open("HeavyPrefixes::load", bytes, Kind::HeavyPrefixes, rule.type);
    HeavyPrefixOptions options;
    options.eps = read_eps(from, 1e-6);
    options.support = from.f64();
    from.require(options.support >= 2 * options.eps && options.support <= 1, "the support");
    options.window = read_window(from);
    options.lengths.resize(from.count());
    for (auto& length : options.lengths) {
        const auto bits = from.u64();
        from.require(
            bits <= bits_of(rule) && (&length == options.lengths.data() || static_cast<int>(bits) > *(&length - 1)),
            "the lengths of prefixes");
        length = static_cast<int>(bits);
    }
    from.require(!options.lengths.empty(), "the lengths of prefixes");
    auto loaded = std::make_unique<HeavyPrefixesState>(rule, options, std::move(sorter));
    loaded->levels.read(from);
    loaded->intake.add_counted(loaded->levels.n(), 0);
    from.require(loaded->window == options.window, "the window");
    const auto rest = read_sorted(from, std::min<std::uint64_t>(options.window - 1, max_kept(each_eps(options))), rule);
    from.end();
    loaded->intake.add(rest);
    return loaded;
}

template struct HeavyPrefixesState<std::uint32_t>;
template struct HeavyPrefixesState<std::uint64_t>;

}  // namespace quadmill::detail::stream

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
HeavyPrefixes<T>::HeavyPrefixes(const HeavyPrefixOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}
template <class T>
HeavyPrefixes<T>::HeavyPrefixes(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
HeavyPrefixes<T>::HeavyPrefixes(HeavyPrefixes&&) noexcept = default;
template <class T>
HeavyPrefixes<T>& HeavyPrefixes<T>::operator=(HeavyPrefixes&&) noexcept = default;
template <class T>
HeavyPrefixes<T>::~HeavyPrefixes() = default;

template <class T>
void HeavyPrefixes<T>::add(std::span<const T> values) {
    state_->intake.add(values);
}

template <class T>
std::uint64_t HeavyPrefixes<T>::n() const {
    return state_->intake.n();
}

template <class T>
const HeavyPrefixOptions& HeavyPrefixes<T>::options() const {
    return state_->options;
}

template <class T>
std::vector<HeavyPrefix<T>> HeavyPrefixes<T>::heavy(double support, HeavyRule rule) const {
    check_part("HeavyPrefixes::heavy", "support", support, options().support);
    const std::lock_guard lock(state_->mutex);
    std::vector<HeavyPrefix<T>> out;
    for (const auto& one : state_->settled().heavy(support, rule))
        out.push_back({static_cast<T>(one.value), one.length, one.count, one.discounted});
    return out;
}

template <class T>
void HeavyPrefixes<T>::merge(const HeavyPrefixes& other) {
    if (&other == this) return merge(load(save()));
    state_->merge(*other.state_);
}

template <class T>
std::vector<std::byte> HeavyPrefixes<T>::save() const {
    return state_->save();
}

template <class T>
HeavyPrefixes<T> HeavyPrefixes<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return HeavyPrefixes(State::load(rule_of<T>, bytes, std::move(sorter)));
}

template <class T>
std::size_t HeavyPrefixes<T>::summary_bytes() const {
    const std::lock_guard lock(state_->mutex);
    state_->intake.settle();
    return state_->levels.bytes();
}

template <class T>
std::size_t HeavyPrefixes<T>::bytes() const {
    const auto& s = *state_;
    const std::lock_guard lock(state_->mutex);
    return sizeof s + s.levels.memory() + s.intake.bytes() + (s.with_rest ? s.with_rest->memory() : 0);
}

template <class T>
StreamTimes HeavyPrefixes<T>::times() const {
    const std::lock_guard lock(state_->mutex);
    return times_of(state_->intake.sorter(), state_->times);
}

template class HeavyPrefixes<std::uint32_t>;
template class HeavyPrefixes<std::uint64_t>;

}  // namespace quadmill
