#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/parts.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

namespace {

template <class T>
constexpr int bits_of = std::numeric_limits<T>::digits;

template <class T>
Key prefix(Key key, int length) {
    return length == 0 ? 0 : key >> static_cast<unsigned>(bits_of<T> - length);
}

// The first value with that prefix.
template <class T>
Key first_of(Key prefix, int length) {
    return length == 0 ? 0 : prefix << static_cast<unsigned>(bits_of<T> - length);
}

// The error of each length. Heavy prefixes that are subtracted have at least (support - eps) n values each, so there
// are at most 2 / support of them.
double each_eps(const HeavyPrefixOptions& options) {
    return options.eps / (1 + 2 / options.support);
}

template <class T>
void check(const HeavyPrefixOptions& options) {
    check_eps("HeavyPrefixes", options.eps, 1e-6);
    check_part("HeavyPrefixes", "support", options.support, 2 * options.eps);
    const auto& lengths = options.lengths;
    const bool ascend = std::is_sorted(lengths.begin(), lengths.end(), std::less_equal<>());
    if (lengths.empty() || !ascend || lengths.front() < 0 || lengths.back() > bits_of<T>) {
        throw InvalidArgument("HeavyPrefixes: the lengths of prefixes must ascend, be from 0 to " +
                              std::to_string(bits_of<T>) + ", and at least one");
    }
}

// One lossy count per length. Values that are sorted are also sorted by each prefix.
template <class T>
class Levels {
  public:
    explicit Levels(const HeavyPrefixOptions& options)
        : lengths_(options.lengths), eps_(each_eps(options)), counts_(lengths_.size()) {}

    // Adds to all lengths or, if memory runs out, to none.
    void add(const Window<T>& sorted, StreamTimes& times) {
        const auto error = max_error(n() + sorted.size());
        std::vector<FrequencySummary> counts(counts_.size());
        for (std::size_t i = 0; i < counts.size(); ++i) {
            counts[i] = counts_[i].with(
                sorted, error, [length = lengths_[i]](Key key) { return prefix<T>(key, length); }, times);
        }
        counts_ = std::move(counts);
    }
    // Merges all lengths or none. From then on the options are those of both.
    void merge(const Levels& other, const HeavyPrefixOptions& options) {
        std::vector<FrequencySummary> counts(counts_.size());
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = FrequencySummary::merged(counts_[i], other.counts_[i]);
        eps_ = each_eps(options);
        for (auto& count : counts) count.prune(max_error(counts.front().n()));
        counts_ = std::move(counts);
    }
    [[nodiscard]] std::vector<HeavyPrefix<T>> heavy(double support, HeavyRule rule) const;

    [[nodiscard]] std::uint64_t n() const { return counts_.front().n(); }
    [[nodiscard]] std::size_t bytes() const {
        std::size_t bytes = 0;
        for (const auto& count : counts_) bytes += count.bytes();
        return bytes;
    }
    [[nodiscard]] std::size_t memory() const {
        std::size_t bytes = counts_.capacity() * sizeof counts_[0] + lengths_.capacity() * sizeof lengths_[0];
        for (const auto& count : counts_) bytes += count.memory();
        return bytes;
    }
    void write(Writer& to) const {
        for (const auto& count : counts_) count.write(to);
    }
    void read(Reader& from) {
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            from.keys_up_to(prefix<T>(KeyOf<T>::max, lengths_[i]));
            auto& count = counts_[i] = FrequencySummary::read(from);
            from.require(count.n() == n() && static_cast<double>(count.max_error()) <= max_error(n()),
                         "the counts of a length");
        }
        from.keys_up_to(KeyOf<T>::max);
    }

  private:
    [[nodiscard]] double max_error(std::uint64_t n) const { return eps_ * static_cast<double>(n); }

    std::vector<int> lengths_;
    double eps_;
    std::vector<FrequencySummary> counts_;
};

// A heavy prefix that no shorter heavy prefix covers yet.
struct Heavy {
    Key first, last;  // values that have the prefix
    Bounds count;
};

// Starts with the longest prefixes. From each prefix, the min count of heavy prefixes below it is subtracted; those
// that may still be heavy are reported, and cover all that is below them from then on.
template <class T>
std::vector<HeavyPrefix<T>> Levels<T>::heavy(double support, HeavyRule rule) const {
    const auto min = min_count(support, n());
    std::vector<HeavyPrefix<T>> out;
    std::vector<Heavy> covered;  // ascending
    for (std::size_t i = counts_.size(); i-- > 0;) {
        const auto under = KeyOf<T>::max - first_of<T>(prefix<T>(KeyOf<T>::max, lengths_[i]), lengths_[i]);
        std::vector<Heavy> next;
        auto at = covered.begin();
        for (const auto& entry : counts_[i].entries()) {
            const auto first = first_of<T>(entry.key, lengths_[i]);
            const auto last = first + under;
            for (; at != covered.end() && at->first < first; ++at) next.push_back(*at);
            const auto from = at;
            Bounds off;
            for (; at != covered.end() && at->last <= last; ++at) {
                off.lower += at->count.lower;
                off.upper += at->count.upper;
            }
            const Bounds count{entry.count, entry.count + entry.missed};
            if (count.upper < min + (rule == HeavyRule::Discounted ? off.lower : 0)) {
                next.insert(next.end(), from, at);
                continue;
            }
            const Bounds rest{saturating_sub(count.lower, off.upper), saturating_sub(count.upper, off.lower)};
            out.push_back(
                {static_cast<T>(first),
                 lengths_[i],
                 count_of(count),
                 {rest.lower, std::clamp(saturating_sub(count.lower, off.lower), rest.lower, rest.upper), rest.upper}});
            next.push_back({first, last, count});
        }
        next.insert(next.end(), at, covered.end());
        covered = std::move(next);
    }
    return out;
}

}  // namespace

template <class T>
struct HeavyPrefixes<T>::State final : WindowSink<T> {
    State(const HeavyPrefixOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : options((check<T>(wanted), wanted)),
          window(counted_window_for("HeavyPrefixes", std::max(each_eps(wanted), min_eps_of_window), wanted.window,
                                    *sorter)),
          intake(rule_of<T>, std::move(sorter), window, *this),
          levels(options) {}

    void take(const Windows<T>& sorted) override {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            levels.add(sorted[i], times);
            with_rest.reset();
        }
    }
    // n() always counts the values that the counts have, even if memory runs out.
    std::uint64_t failed() override {
        with_rest.reset();
        return levels.n();
    }
    const Levels<T>& settled() {
        const auto rest = intake.settle_all();
        if (rest.size() == 0) return levels;
        if (!with_rest || with_rest->n() != levels.n() + rest.size()) {
            with_rest = levels;
            with_rest->add(rest, times);
        }
        return *with_rest;
    }
    // What is saved. A long incomplete window is counted, a short one saved unchanged.
    std::pair<Levels<T>, Window<T>> compact() {
        const auto rest = intake.settle_all();
        if (rest.size() <= max_kept(each_eps(options))) return {levels, rest};
        return {settled(), Window<T>(nullptr, 0, rule_of<T>)};
    }

    std::mutex mutex;  // protects queries, which settle values
    HeavyPrefixOptions options;
    std::size_t window;
    Intake<T> intake;
    Levels<T> levels;
    std::optional<Levels<T>> with_rest;  // kept for answers
    StreamTimes times;                   // of the summary
};

template <class T>
HeavyPrefixes<T>::HeavyPrefixes(const HeavyPrefixOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>(options, std::move(sorter))) {}
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
    return state_->settled().heavy(support, rule);
}

template <class T>
void HeavyPrefixes<T>::merge(const HeavyPrefixes& other) {
    if (&other == this) return merge(load(save()));
    auto &s = *state_, &from = *other.state_;
    if (s.options.lengths != from.options.lengths)
        throw InvalidArgument("HeavyPrefixes::merge: both must have the same lengths of prefixes");
    check_merge("HeavyPrefixes::merge", n(), other.n());
    const std::lock_guard lock(from.mutex);
    const auto [others, rest] = from.compact();
    s.intake.settle();
    // Both errors must hold for the support that both can be asked for.
    auto options = s.options;
    options.support = std::max(options.support, from.options.support);
    options.eps = std::max(options.eps, from.options.eps);
    auto merged = s.levels;
    merged.merge(others, options);
    s.intake.keep(rest.values());  // if this or a line above throws, nothing is changed
    s.levels = std::move(merged);
    s.options = std::move(options);
    s.with_rest.reset();
    s.intake.add_counted(others.n(), 0);
}

template <class T>
std::vector<std::byte> HeavyPrefixes<T>::save() const {
    const std::lock_guard lock(state_->mutex);
    const auto [levels, rest] = state_->compact();
    Writer to({Kind::HeavyPrefixes, type_of<T>()});
    to.f64(options().eps);
    to.f64(options().support);
    to.u64(state_->window);
    to.u64(options().lengths.size());
    for (const int length : options().lengths) to.u64(static_cast<std::uint64_t>(length));
    levels.write(to);
    write_sorted(to, rest);
    return to.take();
}

template <class T>
HeavyPrefixes<T> HeavyPrefixes<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    auto from = open("HeavyPrefixes::load", bytes, Kind::HeavyPrefixes, type_of<T>());
    HeavyPrefixOptions options;
    options.eps = read_eps(from, 1e-6);
    options.support = from.f64();
    from.require(options.support >= 2 * options.eps && options.support <= 1, "the support");
    options.window = read_window(from);
    options.lengths.resize(from.count());
    for (auto& length : options.lengths) {
        const auto bits = from.u64();
        from.require(
            bits <= bits_of<T> && (&length == options.lengths.data() || static_cast<int>(bits) > *(&length - 1)),
            "the lengths of prefixes");
        length = static_cast<int>(bits);
    }
    from.require(!options.lengths.empty(), "the lengths of prefixes");
    HeavyPrefixes loaded(options, std::move(sorter));
    loaded.state_->levels.read(from);
    loaded.state_->intake.add_counted(loaded.state_->levels.n(), 0);
    from.require(loaded.state_->window == options.window, "the window");
    const auto rest = read_sorted(from, std::min<std::uint64_t>(options.window - 1, max_kept(each_eps(options))), rule_of<T>);
    from.end();
    loaded.add(rest);
    return loaded;
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
