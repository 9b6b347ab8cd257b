#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/correlated_summary.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/limit.hpp"
#include "stream/pair_intake.hpp"
#include "stream/parts.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

namespace {

constexpr std::uint64_t max_pairs = std::uint64_t{1} << 52U;  // doubles count exactly up to it

}  // namespace

template <class T>
struct CorrelatedSums<T>::State {
    State(const CorrelatedSumOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : g(wanted.g),
          window(window_for("CorrelatedSums", wanted.eps, wanted.window, *sorter)),
          pairs(std::move(sorter), window, [this](auto sorted) { take(std::move(sorted)); }),
          histogram(ErrorPlan::planned(wanted.eps, wanted.n, window)) {}

    void take(std::vector<CorrelatedSummary::Pair> sorted) {
        const detail::cpu::Stopwatch time;
        CorrelatedSummary summary(sorted, histogram.plan().max_error(1, sorted.size()));
        times.sample += time.ms();
        histogram.add(std::move(summary));
        whole.reset();
    }
    // Summary of the pairs in the incomplete window.
    CorrelatedSummary sample_of_rest(double max_error) {
        auto rest = pairs.rest();
        PairIntake<sizeof(T) <= 4>::sort(rest);
        const detail::cpu::Stopwatch time;
        CorrelatedSummary summary(rest, max_error);
        times.sample += time.ms();
        return summary;
    }
    void add(T x, double weight) {
        whether_or_not([&] { pairs.add(KeyOf<T>::key(x), weight); },
                       [&, before = pairs.n()] {
                           if (pairs.n() == before) return;
                           ++n;
                           total.add(x);
                       });
    }
    // The summary of all pairs. If nothing was dropped from complete windows, nothing is dropped from the rest.
    const CorrelatedSummary& settled() {
        pairs.settle();
        if (!whole || whole->n() != n) {
            const auto error = histogram.is_exact() ? 0 : histogram.plan().max_error(1, n - histogram.n());
            const auto of_rest = sample_of_rest(error);
            const detail::cpu::Stopwatch time;
            whole = CorrelatedSummary::merged(histogram.all(), of_rest);
            times.merge += time.ms();
        }
        return *whole;
    }
    // What is saved. If the incomplete window has more pairs than a sample of it has entries, a sample is saved.
    ExponentialHistogram<CorrelatedSummary> compact(std::vector<CorrelatedSummary::Pair>& rest) {
        pairs.settle();
        auto buckets = histogram;
        const auto count = n - histogram.n();
        if (count > max_kept(eps())) {
            buckets.add(sample_of_rest(buckets.plan().max_error(1, count)));
        } else {
            rest = pairs.rest();
        }
        return buckets;
    }
    [[nodiscard]] double eps() const { return histogram.plan().eps; }
    // The mean of x must be between min and max.
    void check_total(const Reader& from) const {
        if (n == 0) return from.require(total.finite.sign() == 0 && !total.rises && !total.falls, "the sum of x");
        auto min = KeyOf<T>::max, max = Key{0};
        const auto look = [&](Key key) {
            min = std::min(min, key);
            max = std::max(max, key);
        };
        for (const auto* part : histogram.parts()) {
            look(part->entries().front().key);
            look(part->entries().back().key);
        }
        for (const auto& pair : pairs.rest()) look(pair.key);
        const auto is_infinite = [](Key key) { return limit_at<T>(key).infinite != 0; };
        from.require(total.falls == (is_infinite(min) && limit_at<T>(min).infinite < 0) &&
                         total.rises == (is_infinite(max) && limit_at<T>(max).infinite > 0),
                     "the sum of x");
        if (total.rises || total.falls) return;
        const Limit mean{total.finite, n, 0};
        auto above = mean.sum;
        add_to(above, KeyOf<T>::value(max), -static_cast<double>(n));
        from.require(is_at_most<T>(min, mean) && above.sign() <= 0, "the sum of x");
    }

    std::recursive_mutex mutex;  // protects queries, which settle values; f may query, too
    std::function<double(double)> g;
    std::size_t window;
    PairIntake<sizeof(T) <= 4> pairs;
    ExponentialHistogram<CorrelatedSummary> histogram;
    std::optional<CorrelatedSummary> whole;  // kept for answers
    std::uint64_t n = 0, nans = 0;
    Total<T> total;     // sum of x
    StreamTimes times;  // without those of the histogram
};

template <class T>
CorrelatedSums<T>::CorrelatedSums(const CorrelatedSumOptions& options, std::unique_ptr<WindowSorter> sorter)
    : state_(std::make_unique<State>(options, std::move(sorter))) {}
template <class T>
CorrelatedSums<T>::CorrelatedSums(CorrelatedSums&&) noexcept = default;
template <class T>
CorrelatedSums<T>& CorrelatedSums<T>::operator=(CorrelatedSums&&) noexcept = default;
template <class T>
CorrelatedSums<T>::~CorrelatedSums() = default;

template <class T>
void CorrelatedSums<T>::add(std::span<const T> x, std::span<const double> y) {
    auto& s = *state_;
    if (x.size() != y.size()) {
        throw InvalidArgument("CorrelatedSums::add: x and y must have the same length, " + std::to_string(x.size()) +
                              ", not " + std::to_string(y.size()));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (KeyOf<T>::is_nan(x[i]) || std::isnan(y[i])) {
            ++s.nans;
            continue;
        }
        const double weight = s.g ? s.g(y[i]) : y[i];
        if (!std::isfinite(weight)) {
            throw InvalidArgument(
                "CorrelatedSums::add: g(y) must be finite, and is not for y = " + std::to_string(y[i]) + " of pair " +
                std::to_string(i) + "; the pairs before it were added");
        }
        s.add(x[i], weight);
    }
}

template <class T>
std::uint64_t CorrelatedSums<T>::n() const {
    return state_->n;
}

template <class T>
std::uint64_t CorrelatedSums<T>::nans() const {
    return state_->nans;
}

template <class T>
double CorrelatedSums<T>::eps() const {
    return state_->histogram.plan().eps;
}

namespace {

// Bounds and an estimate of the aggregate at x.
struct Estimate {
    Limit lower, estimate, upper;
};

template <class T>
Estimate aggregate_of(const CorrelatedSummary& summary, const Aggregate& aggregate, const Total<T>& total) {
    const auto exactly = [](const Limit& limit) { return Estimate{limit, limit, limit}; };
    switch (aggregate.kind) {
        case Aggregate::Kind::Min:
            return exactly(limit_at<T>(summary.entries().front().key));
        case Aggregate::Kind::Max:
            return exactly(limit_at<T>(summary.entries().back().key));
        case Aggregate::Kind::Average:
            return exactly(total.mean(summary.n()));
        case Aggregate::Kind::Sum:
            return exactly(total.mean(1));
        case Aggregate::Kind::Count:
            return exactly(limit_of(static_cast<double>(summary.n())));  // at most 2^52
        case Aggregate::Kind::Quantile:
            break;
    }
    const auto at = summary.at_rank(rank_of(aggregate.phi, summary.n()));
    return {limit_at<T>(at.lower), limit_at<T>(at.nearest), limit_at<T>(at.upper)};
}

// Bounds of a quantile are bounds of the threshold only if f is monotonic.
template <class T>
void check_monotonic(const CorrelatedSummary& summary, const std::function<double(double)>& f) {
    std::optional<double> before;
    double rose = 0, fell = 0;  // an x where f rose, and one where it fell
    bool rises = false, falls = false;
    for (const auto& entry : summary.entries()) {
        const double x = number(KeyOf<T>::value(entry.key)), now = f(x);
        if (before && now > *before) rises = true, rose = x;
        if (before && now < *before) falls = true, fell = x;
        if (rises && falls) {
            throw InvalidArgument("CorrelatedSums::sum: f rises up to x = " + text_of(rose) + " and falls up to x = " +
                                  text_of(fell) + "; of a quantile, f must rise or fall over all x");
        }
        before = now;
    }
}

template <class T>
CorrelatedSum<T> sum_up_to(const CorrelatedSummary& summary, const Estimate& at) {
    for (const auto* limit : {&at.lower, &at.estimate, &at.upper}) {
        if (std::isnan(limit->infinite)) throw InvalidArgument("CorrelatedSums::sum: f(AGG(x)) is not a number");
    }
    const auto at_most = [&](const std::optional<Key>& key) {
        return key ? summary.at_most(*key) : std::pair<CorrelatedSummary::Amounts, CorrelatedSummary::Amounts>{};
    };
    const auto key = key_at_most<T>(at.estimate);
    const auto [lower, upper] = std::minmax({key_at_most<T>(at.lower), key, key_at_most<T>(at.upper)});
    const auto min = at_most(lower).first, max = at_most(upper).second;
    const auto [from, to] = at_most(key);
    return {at.estimate.nearest(), exact_at<T>(key, at.estimate), CorrelatedSummary::mean_sum(from, to),
            summary.min_sum(min, max), summary.greatest_sum(max, min)};
}

}  // namespace

template <class T>
CorrelatedSum<T> CorrelatedSums<T>::sum(const Aggregate& aggregate, const Affine& f) const {
    check_part("CorrelatedSums::sum", "phi", aggregate.phi);
    if (!std::isfinite(f.scale) || !std::isfinite(f.offset))
        throw InvalidArgument("CorrelatedSums::sum: scale and offset must be finite");
    if (n() == 0) throw InvalidArgument("CorrelatedSums::sum: there are no pairs yet");
    const std::lock_guard lock(state_->mutex);
    const auto& summary = state_->settled();
    const auto on_line = [&](const Limit& limit) {
        if (limit.infinite != 0) return limit_of(f.scale * limit.infinite + f.offset);
        Limit out{.divisor = limit.divisor};
        out.sum.add(limit.sum, f.scale);
        out.sum.add(f.offset, static_cast<double>(limit.divisor));
        return out;
    };
    const auto at = aggregate_of<T>(summary, aggregate, state_->total);
    return sum_up_to<T>(summary, {on_line(at.lower), on_line(at.estimate), on_line(at.upper)});
}

template <class T>
CorrelatedSum<T> CorrelatedSums<T>::sum(const Aggregate& aggregate, const std::function<double(double)>& f) const {
    if (!f) return sum(aggregate);
    check_part("CorrelatedSums::sum", "phi", aggregate.phi);
    if (n() == 0) throw InvalidArgument("CorrelatedSums::sum: there are no pairs yet");
    const std::lock_guard lock(state_->mutex);
    const auto& summary = state_->settled();
    if (aggregate.kind == Aggregate::Kind::Quantile) check_monotonic<T>(summary, f);
    const auto of = [&](const Limit& limit) { return limit_of(f(limit.nearest())); };
    const auto at = aggregate_of<T>(summary, aggregate, state_->total);
    return sum_up_to<T>(summary, {of(at.lower), of(at.estimate), of(at.upper)});
}

template <class T>
void CorrelatedSums<T>::merge(const CorrelatedSums& other) {
    if (&other == this) return merge(load(save()));
    auto &s = *state_, &from = *other.state_;
    const std::lock_guard lock(from.mutex);
    check_merge("CorrelatedSums::merge", s.n, from.n, max_pairs);
    std::vector<CorrelatedSummary::Pair> rest;
    const auto buckets = from.compact(rest);
    auto merged = s.histogram;
    merged.raise_eps(from.eps());
    merged.merge(buckets);
    auto total = s.total;
    total.merge(from.total);
    s.pairs.keep(rest);  // if a line above throws, nothing is changed
    s.histogram = std::move(merged);
    s.total = std::move(total);
    s.whole.reset();
    s.n += from.n;
    s.nans += from.nans;
}

template <class T>
std::vector<std::byte> CorrelatedSums<T>::save() const {
    auto& s = *state_;
    const std::lock_guard lock(s.mutex);
    std::vector<CorrelatedSummary::Pair> rest;
    const auto buckets = s.compact(rest);
    Writer to({Kind::CorrelatedSums, type_of<T>()});
    to.f64(s.eps());
    to.u64(buckets.plan().levels);
    to.u64(s.window);
    to.u64(s.n);
    to.u64(s.nans);
    s.total.write(to);
    buckets.write(to);
    to.u64(rest.size());
    for (const auto& [key, weight] : rest) {
        to.u64(key);
        to.f64(weight);
    }
    return to.take();
}

template <class T>
CorrelatedSums<T> CorrelatedSums<T>::load(std::span<const std::byte> bytes, std::function<double(double)> g,
                                          std::unique_ptr<WindowSorter> sorter) {
    auto from = open("CorrelatedSums::load", bytes, Kind::CorrelatedSums, type_of<T>());
    const double eps = read_eps(from, 1e-9);
    const auto levels = from.u64();
    from.require(levels >= 1 && levels <= ErrorPlan::max_ids, "the levels");
    const auto window = read_window(from);
    CorrelatedSums loaded({.eps = eps, .n = {}, .window = window, .g = std::move(g)}, std::move(sorter));
    auto& s = *loaded.state_;
    s.n = from.u64();
    s.nans = from.u64();
    from.require(s.n <= max_pairs && s.nans <= max_values, "the number of pairs");
    s.total = Total<T>::read(from);
    s.histogram = ExponentialHistogram<CorrelatedSummary>::read(from, ErrorPlan::of_stream(eps, levels));
    const auto rest = from.count(2);
    from.require(rest < window && rest <= max_kept(eps) && s.histogram.n() <= s.n && rest == s.n - s.histogram.n(),
                 "the pairs of an unfinished window");
    for (std::size_t i = 0; i < rest; ++i) {
        const auto key = from.key(0);
        const double weight = from.f64();
        from.require(std::isfinite(weight), "a pair");
        s.pairs.add(key, weight);
    }
    from.end();
    s.check_total(from);
    return loaded;
}

template <class T>
std::size_t CorrelatedSums<T>::summary_bytes() const {
    const std::lock_guard lock(state_->mutex);
    state_->pairs.settle();
    return state_->histogram.bytes();
}

template <class T>
std::size_t CorrelatedSums<T>::bytes() const {
    auto& s = *state_;
    const std::lock_guard lock(s.mutex);
    return sizeof s + s.histogram.memory() + s.pairs.bytes() + (s.whole ? s.whole->bytes() : 0);
}

template <class T>
StreamTimes CorrelatedSums<T>::times() const {
    const std::lock_guard lock(state_->mutex);
    auto times = times_of(state_->pairs.sorter(), state_->times);
    times.merge += state_->histogram.merge_ms();
    times.compress += state_->histogram.compress_ms();
    return times;
}

QUADMILL_FOR_EACH_TYPE(CorrelatedSums)

}  // namespace quadmill
