#include <algorithm>
#include <functional>
#include <string>

#include "stream/counted_state.hpp"

namespace quadmill::detail::stream {

namespace {

unsigned bits_of(const KeyRule& rule) {
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

HeavyPrefixOptions of_both(const HeavyPrefixOptions& a, const HeavyPrefixOptions& b) {
    if (a.lengths != b.lengths)
        throw InvalidArgument("HeavyPrefixes::merge: both must have the same lengths of prefixes");
    auto both = a;
    both.support = std::max(a.support, b.support);
    both.eps = std::max(a.eps, b.eps);
    return both;
}

void read_errors(Reader& from, HeavyPrefixOptions& options) {
    options.eps = read_eps(from, 1e-6);
    options.support = from.f64();
    from.require(options.support >= 2 * options.eps && options.support <= 1, "the support");
}

double each_eps(const HeavyPrefixOptions& options) {
    return options.eps / (1 + 2 / options.support);
}

void Counts::read_prefixes(Reader& from) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        from.keys_up_to(prefix_of(lengths_[i])(greatest()));
        auto& count = counts_[i] = FrequencySummary::read(from);
        from.require(count.n() == n() && static_cast<double>(count.max_error()) <= max_error(n()),
                     "the counts of a length");
    }
    from.keys_up_to(greatest());
}

std::vector<HeavyPrefix<Key>> Counts::heavy(double support, HeavyRule rule) const {
    const auto of_length = [&](std::size_t i) {
        const auto prefix = prefix_of(lengths_[i]);
        const auto first_of = [&](Key key) { return key << prefix.shift; };
        const auto under = greatest() - first_of(prefix(greatest()));
        std::vector<Counted<Key>> all;
        for (const auto& entry : counts_[i].entries()) {
            const auto first = first_of(entry.key);
            all.push_back({first, first + under, {entry.count, entry.count + entry.missed}});
        }
        return all;
    };
    return heavy_of<Key>(lengths_, of_length, min_count(support, n()), rule);
}

HeavyPrefixesState::HeavyPrefixesState(const KeyRule& rule, const HeavyPrefixOptions& wanted,
                                       std::unique_ptr<WindowSorter> sorter)
    : CountedState(
          rule, Counts(each_eps(checked(wanted, bits_of(rule))), wanted.lengths, bits_of(rule)),
          counted_window_for("HeavyPrefixes", std::max(each_eps(wanted), min_eps_of_window), wanted.window, *sorter),
          std::move(sorter)),
      options(wanted) {}

void HeavyPrefixesState::merge(HeavyPrefixesState& other) {
    auto both = of_both(options, other.options);
    CountedState::merge("HeavyPrefixes::merge", other, each_eps(both));
    options = std::move(both);
}

std::vector<std::byte> HeavyPrefixesState::save() {
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

std::unique_ptr<HeavyPrefixesState> HeavyPrefixesState::load(const KeyRule& rule, std::span<const std::byte> bytes,
                                                             std::unique_ptr<WindowSorter> sorter) {
    auto from = open("HeavyPrefixes::load", bytes, Kind::HeavyPrefixes, rule.type);
    HeavyPrefixOptions options;
    read_errors(from, options);
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
    loaded->counts.read_prefixes(from);
    loaded->read_rest(from, options.window, 0);
    return loaded;
}

}  // namespace quadmill::detail::stream

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
HeavyPrefixes<T>::HeavyPrefixes(const HeavyPrefixOptions& options, std::unique_ptr<WindowSorter> sorter)
    : HeavyPrefixes(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}

template <class T>
const HeavyPrefixOptions& HeavyPrefixes<T>::options() const {
    return state().options;
}

template <class T>
std::vector<HeavyPrefix<T>> HeavyPrefixes<T>::heavy(double support, HeavyRule rule) const {
    check_part("HeavyPrefixes::heavy", "support", support, options().support);
    const std::lock_guard lock(state().mutex);
    std::vector<HeavyPrefix<T>> out;
    for (const auto& one : state().settled().heavy(support, rule))
        out.push_back({static_cast<T>(one.value), one.length, one.count, one.discounted});
    return out;
}

template <class T>
void HeavyPrefixes<T>::merge(const HeavyPrefixes& other) {
    if (&other == this) return merge(load(save()));
    state().merge(other.state());
}

template <class T>
HeavyPrefixes<T> HeavyPrefixes<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return HeavyPrefixes(State::load(rule_of<T>, bytes, std::move(sorter)));
}

template class HeavyPrefixes<std::uint32_t>;
template class HeavyPrefixes<std::uint64_t>;

}  // namespace quadmill
