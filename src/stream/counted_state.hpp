// The insides of Frequencies and of HeavyPrefixes: lossy counts of values, or of their prefixes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/summary_state.hpp"

namespace quadmill::detail::stream {

// The error of each length. Heavy prefixes that are subtracted have at least (support - eps) n values each, so there
// are at most 2 / support of them.
[[nodiscard]] inline double each_eps(const HeavyPrefixOptions& options) {
    return options.eps / (1 + 2 / options.support);
}

// Throws InvalidArgument for options out of range. Values have that many bits.
inline const HeavyPrefixOptions& checked(const HeavyPrefixOptions& options, unsigned bits) {
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

// The options of a merged summary. Its errors hold for the support that both can be asked for.
[[nodiscard]] inline HeavyPrefixOptions of_both(const HeavyPrefixOptions& a, const HeavyPrefixOptions& b) {
    if (a.lengths != b.lengths)
        throw InvalidArgument("HeavyPrefixes::merge: both must have the same lengths of prefixes");
    auto both = a;
    both.support = std::max(a.support, b.support);
    both.eps = std::max(a.eps, b.eps);
    return both;
}

inline void read_errors(Reader& from, HeavyPrefixOptions& options) {
    options.eps = read_eps(from, 1e-6);
    options.support = from.f64();
    from.require(options.support >= 2 * options.eps && options.support <= 1, "the support");
}

// Reads the next of ascending lengths, up to that many bits.
inline void read_length(Reader& from, HeavyPrefixOptions& options, unsigned bits) {
    const auto length = from.u64();
    from.require(length <= bits && (options.lengths.empty() || static_cast<int>(length) > options.lengths.back()),
                 "the lengths of prefixes");
    options.lengths.push_back(static_cast<int>(length));
}

// A prefix of values from the first to the last one, and the bounds of their number.
template <class Value>
struct Counted {
    Value first, last;
    Bounds count;
};

// counts(i) gives the prefixes of length i, ascending. Starts with the longest prefixes. Subtracts from the count of
// each prefix the min counts of the heavy prefixes below it. A prefix that may still be heavy is reported. From then
// on it covers all prefixes below it.
template <class Value, class Counts>
std::vector<HeavyPrefix<Value>> heavy_of(const std::vector<int>& lengths, const Counts& counts, std::uint64_t min,
                                         HeavyRule rule) {
    std::vector<HeavyPrefix<Value>> out;
    std::vector<Counted<Value>> covered;  // heavy prefixes that no shorter one covers yet, ascending
    for (std::size_t i = lengths.size(); i-- > 0;) {
        std::vector<Counted<Value>> next;
        auto at = covered.begin();
        for (const Counted<Value>& one : counts(i)) {
            for (; at != covered.end() && at->first < one.first; ++at) next.push_back(*at);
            const auto from = at;
            Bounds off;
            for (; at != covered.end() && at->last <= one.last; ++at) {
                off.lower += at->count.lower;
                off.upper += at->count.upper;
            }
            const auto& count = one.count;
            if (count.upper < min + (rule == HeavyRule::Discounted ? off.lower : 0)) {
                next.insert(next.end(), from, at);
                continue;
            }
            const Bounds rest{saturating_sub(count.lower, off.upper), saturating_sub(count.upper, off.lower)};
            out.push_back(
                {one.first,
                 lengths[i],
                 count_of(count),
                 {rest.lower, std::clamp(saturating_sub(count.lower, off.lower), rest.lower, rest.upper), rest.upper}});
            next.push_back(one);
        }
        next.insert(next.end(), at, covered.end());
        covered = std::move(next);
    }
    return out;
}

// A lossy count of whole values, or one for each length of prefixes: sorted values are sorted by each prefix, too.
class Counts {
  public:
    explicit Counts(double eps, FrequencySummary of_values = {}) : Counts(eps, {64}, 64) {
        counts_.front() = std::move(of_values);
    }
    // Counts prefixes of these lengths, of values with that many bits.
    Counts(double eps, std::vector<int> lengths, unsigned bits)
        : bits_(bits), lengths_(std::move(lengths)), eps_(eps), counts_(lengths_.size()) {}

    // Adds to all lengths or, if memory runs out, to none.
    void add(const Window& sorted, StreamTimes& times, const Share& share) {
        const auto error = max_error(n() + sorted.size());
        std::vector<FrequencySummary> counts(counts_.size());
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = counts_[i].with(sorted, error, prefix_of(lengths_[i]), times, share);
        counts_ = std::move(counts);
    }
    // Merges all lengths or none, with the error that both have from then on.
    void merge(const Counts& other, double eps) {
        std::vector<FrequencySummary> counts;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            counts.push_back(FrequencySummary::merged(counts_[i], other.counts_[i], {}));
        eps_ = eps;
        for (auto& count : counts) count.prune(max_error(count.n()));
        counts_ = std::move(counts);
    }
    // As Frequencies::add() with weights. Pre: counts of the whole values.
    void add(const WeightedKeys& keys) {
        auto all = FrequencySummary::merged(first(), FrequencySummary::of_counts(keys), {});
        all.prune(max_error(all.n()));
        counts_.front() = std::move(all);
    }
    [[nodiscard]] std::vector<HeavyPrefix<Key>> heavy(double support, HeavyRule rule) const {
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

    // The counts of the shortest prefixes, or of the whole values.
    [[nodiscard]] const FrequencySummary& first() const { return counts_.front(); }
    [[nodiscard]] std::uint64_t n() const { return first().n(); }
    [[nodiscard]] double eps() const { return eps_; }
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
        counts_.front() = FrequencySummary::read(from);
        from.require(static_cast<double>(first().max_error()) <= max_error(n()), "the error of a count");
    }
    // Reads a count for each length of prefixes.
    void read_prefixes(Reader& from) {
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            from.keys_up_to(prefix_of(lengths_[i])(greatest()));
            auto& count = counts_[i] = FrequencySummary::read(from);
            from.require(count.n() == n() && static_cast<double>(count.max_error()) <= max_error(n()),
                         "the counts of a length");
        }
        from.keys_up_to(greatest());
    }

  private:
    [[nodiscard]] double max_error(std::uint64_t n) const { return eps_ * static_cast<double>(n); }
    [[nodiscard]] Prefix prefix_of(int length) const {
        return length == 0 ? Prefix{0, 0} : Prefix{bits_ - static_cast<unsigned>(length)};
    }
    [[nodiscard]] Key greatest() const { return ~Key{0} >> (64 - bits_); }

    unsigned bits_;
    std::vector<int> lengths_;
    double eps_;
    std::vector<FrequencySummary> counts_;
};

struct CountedState : WindowedState {
    CountedState(const KeyRule& rule, Counts none, std::size_t of_window, std::unique_ptr<WindowSorter>&& sorter)
        : WindowedState(rule, of_window, std::move(sorter)), counts(std::move(none)) {}

    void take(const Windows& sorted) override {
        with_rest.reset();
        for (std::size_t i = 0; i < sorted.size(); ++i) counts.add(sorted[i], own_times, intake.share());
    }
    // n() always counts the values that the counts have, even if memory runs out.
    std::uint64_t failed() override {
        with_rest.reset();
        return counts.n();
    }
    const Counts& settled() {
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
    // What is saved. A long incomplete window is counted, a short one saved unchanged.
    std::pair<Counts, Window> compact() {
        const auto rest = intake.settle_all();
        if (rest.size() <= max_kept(counts.eps())) return {counts, rest};
        return {settled(), Window({}, intake.rule())};
    }
    // Merges the other one, with the error that both have from then on.
    void merge(const std::string& function, CountedState& other, double eps) {
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

    [[nodiscard]] double eps() const override { return counts.eps(); }
    [[nodiscard]] std::size_t summary_bytes() override {
        intake.settle();
        return counts.bytes();
    }
    [[nodiscard]] std::size_t bytes() override {
        return sizeof *this + counts.memory() + intake.bytes() + (with_rest ? with_rest->memory() : 0);
    }

    Counts counts;
    std::optional<Counts> with_rest;  // kept for answers

  protected:
    // The end of a load: the values of the incomplete window.
    void read_rest(Reader& from, std::size_t saved_window, std::uint64_t nans) {
        from.require(window == saved_window, "the window");
        intake.add_counted(counts.n(), nans);
        const auto rest = read_sorted(from, std::min<std::uint64_t>(window - 1, max_kept(counts.eps())), intake.rule());
        from.end();
        intake.add(rest.values());
    }
};

// The inside of a Frequencies. A sliding window makes one, too.
struct FrequenciesState final : CountedState {
    FrequenciesState(const KeyRule& rule, const FrequencyOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : CountedState(rule, Counts(wanted.eps), counted_window_for("Frequencies", wanted.eps, wanted.window, *sorter),
                       std::move(sorter)) {}
    static std::unique_ptr<FrequenciesState> load(const KeyRule& rule, std::span<const std::byte> bytes,
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
    [[nodiscard]] std::vector<std::byte> save() override {
        const auto [all, rest] = compact();
        Writer to({Kind::Frequencies, intake.rule().type});
        to.f64(all.eps());
        to.u64(window);
        to.u64(nans());
        all.write(to);
        write_sorted(to, rest);
        return to.take();
    }
    // The incomplete window is saved unchanged, so it is counted exactly.
    [[nodiscard]] Count count(Key key) {
        const std::lock_guard lock(mutex);
        const auto rest = intake.settle_all();
        const auto first = gallop(0, rest.size(), [&](std::size_t i) { return rest[i] < key; });
        const auto in_rest = gallop(first, rest.size(), [&](std::size_t i) { return rest[i] <= key; }) - first;
        const auto [lower, upper] = counts.first().count(key);
        return count_of({lower + in_rest, upper + in_rest});
    }
    void add_weighted(const Values& values, std::span<const std::uint64_t> weights) {
        const WeightedKeys keys("Frequencies::add", intake, values, weights);
        intake.settle();
        counts.add(keys);
        with_rest.reset();
        intake.add_counted(keys.n(), keys.nans());
    }
};

struct HeavyPrefixesState final : CountedState {
    HeavyPrefixesState(const KeyRule& rule, const HeavyPrefixOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : CountedState(rule, Counts(each_eps(checked(wanted, rule.raw_bits())), wanted.lengths, rule.raw_bits()),
                       counted_window_for("HeavyPrefixes", std::max(each_eps(wanted), min_eps_of_window), wanted.window,
                                          *sorter),
                       std::move(sorter)),
          options(wanted) {}
    static std::unique_ptr<HeavyPrefixesState> load(const KeyRule& rule, std::span<const std::byte> bytes,
                                                    std::unique_ptr<WindowSorter> sorter) {
        auto from = open("HeavyPrefixes::load", bytes, Kind::HeavyPrefixes, rule.type);
        HeavyPrefixOptions options;
        read_errors(from, options);
        options.window = read_window(from);
        const auto lengths = from.count();
        from.require(lengths > 0, "the lengths of prefixes");
        while (options.lengths.size() < lengths) read_length(from, options, rule.raw_bits());
        auto loaded = std::make_unique<HeavyPrefixesState>(rule, options, std::move(sorter));
        loaded->counts.read_prefixes(from);
        loaded->read_rest(from, options.window, 0);
        return loaded;
    }
    [[nodiscard]] double eps() const override { return options.eps; }
    [[nodiscard]] std::vector<std::byte> save() override {
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
    void merge(HeavyPrefixesState& other) {
        auto both = of_both(options, other.options);
        CountedState::merge("HeavyPrefixes::merge", other, each_eps(both));
        options = std::move(both);
    }

    HeavyPrefixOptions options;
};

// Every entry that may occur that often if counts may be too low by a further `missing`, most frequent first.
[[nodiscard]] inline std::vector<FrequencySummary::Entry> frequent_in(const FrequencySummary& summary,
                                                                      std::uint64_t min, std::uint64_t missing = 0) {
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

template <class T>
std::vector<Frequent<T>> values_of(const std::vector<FrequencySummary::Entry>& entries) {
    std::vector<Frequent<T>> out;
    out.reserve(entries.size());
    for (const auto& e : entries) out.push_back({KeyOf<T>::value(e.key), {e.count, e.count, e.count + e.missed}});
    return out;
}

}  // namespace quadmill::detail::stream
