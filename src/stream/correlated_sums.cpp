#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/correlated_summary.hpp"
#include "stream/exact_sum.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/pair_intake.hpp"
#include "stream/parts.hpp"
#include "stream/summary_state.hpp"

namespace quadmill {

namespace detail::stream {

namespace {

constexpr std::uint64_t max_pairs = std::uint64_t{1} << 52U;  // doubles count exactly up to it

// The value of a key, rounded.
double number_at(KeyType type, Key key) {
    return cpu::visit_key_type(type, [key]<class T>(const T* /*type*/) { return number(KeyOf<T>::value(key)); });
}

// sum += x * factor, for a finite x.
template <class T>
void add_to(ExactSum& sum, T x, double factor) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {  // in two parts, each of which fits into a double
        constexpr auto low = T{0xffffffff};
        sum.add(static_cast<double>(x & ~low), factor);
        sum.add(static_cast<double>(x & low), factor);
    } else {
        sum.add(number(x), factor);
    }
}

void add_to(ExactSum& sum, KeyType type, Key key, double factor) {
    cpu::visit_key_type(type, [&]<class T>(const T* /*type*/) { add_to(sum, KeyOf<T>::value(key), factor); });
}

// An exact number, sum / divisor, or an infinite one.
struct Limit {
    ExactSum sum{};
    std::uint64_t divisor = 1;
    double infinite = 0;

    [[nodiscard]] double nearest() const { return infinite != 0 ? infinite : sum.nearest(divisor); }
};

Limit limit_of(double v) {
    return std::isfinite(v) ? Limit{ExactSum(v)} : Limit{.infinite = v};
}

Limit limit_at(KeyType type, Key key) {
    if (const auto x = number_at(type, key); !std::isfinite(x)) return {.infinite = x};
    Limit limit;
    add_to(limit.sum, type, key, 1);
    return limit;
}

// The sign of limit - x.
int sign_above(KeyType type, Key key, const Limit& limit) {
    const auto sign = [](double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; };
    if (const auto x = number_at(type, key); !std::isfinite(x)) return x == limit.infinite ? 0 : sign(-x);
    if (limit.infinite != 0) return sign(limit.infinite);
    auto difference = limit.sum;
    add_to(difference, type, key, -static_cast<double>(limit.divisor));
    return difference.sign();
}

// The largest key whose value is at or below that; nothing if all values are greater.
std::optional<Key> key_at_most(KeyType type, const Limit& limit) {
    const auto is_at_most = [&](Key key) { return sign_above(type, key, limit) >= 0; };
    // Numbers and keys have the same order.
    const auto last = cpu::visit_key_type(type, []<class T>(const T* /*type*/) { return KeyOf<T>::greatest(); });
    const auto past = first_not(Key{0}, last, is_at_most);
    if (is_at_most(past)) return past;
    return past > 0 ? std::optional(past - 1) : std::nullopt;
}

// The exact sum of x. Infinite values are counted separately.
struct Total {
    ExactSum finite;
    bool rises = false, falls = false;  // whether +inf or -inf was added

    template <class T>
    void add(T x) {
        if (std::isfinite(number(x))) return add_to(finite, x, 1);
        (number(x) > 0 ? rises : falls) = true;
    }
    void merge(const Total& other) {
        finite.add(other.finite);
        rises = rises || other.rises;
        falls = falls || other.falls;
    }
    // The sum divided by n.
    [[nodiscard]] Limit mean(std::uint64_t n) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (rises && falls) return {.infinite = std::numeric_limits<double>::quiet_NaN()};
        if (rises || falls) return {.infinite = rises ? infinity : -infinity};
        return {finite, n, 0};
    }
    void write(Writer& to) const {
        finite.write(to);
        to.u64((rises ? 1 : 0) | (falls ? 2 : 0));
    }
    static Total read(Reader& from) {
        Total total{ExactSum::read(from)};
        const auto infinite = from.u64();
        const bool is_float =
            cpu::visit_key_type(from.header().type, []<class T>(const T* /*type*/) { return cpu::is_float<T>; });
        from.require(infinite <= (is_float ? 3 : 0), "the sum of x");
        total.rises = (infinite & 1U) != 0;
        total.falls = (infinite & 2U) != 0;
        return total;
    }
};

// Bounds and an estimate of the aggregate at x.
struct Estimate {
    Limit lower, estimate, upper;
};

// Bounds of a quantile are bounds of the threshold only if f is monotonic.
void check_monotonic(KeyType type, const CorrelatedSummary& summary, const std::function<double(double)>& f) {
    std::optional<double> before;
    double rose = 0, fell = 0;  // an x where f rose, and one where it fell
    bool rises = false, falls = false;
    for (const auto& entry : summary.entries()) {
        const double x = number_at(type, entry.key), now = f(x);
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
CorrelatedSum<T> value_of(const CorrelatedSum<Key>& found) {
    const auto exact = found.exact ? std::optional(KeyOf<T>::value(*found.exact)) : std::nullopt;
    return {found.threshold, exact, found.sum, found.lower, found.upper};
}

}  // namespace

// The inside of a CorrelatedSums, for keys of all types.
struct CorrelatedState final : SummaryState {
    CorrelatedState(KeyType of, const CorrelatedSumOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : type(of),
          g(wanted.g),
          formula(wanted.formula),
          window(window_for("CorrelatedSums", wanted.eps, wanted.window, *sorter)),
          pairs(cpu::bytes_of(of) <= 4, std::move(sorter), window, [this](auto sorted) { take(std::move(sorted)); }),
          histogram(ErrorPlan::planned(wanted.eps, wanted.n, window)) {}

    void take(std::vector<CorrelatedSummary::Pair> sorted) {
        histogram.add(sample(sorted, histogram.plan().max_error(1, sorted.size())));
        whole.reset();
    }
    // Summary of the pairs in the incomplete window.
    CorrelatedSummary sample_of_rest(double max_error) {
        auto rest = pairs.rest();
        std::ranges::stable_sort(rest, {}, &CorrelatedSummary::Pair::key);
        return sample(rest, max_error);
    }
    CorrelatedSummary sample(const std::vector<CorrelatedSummary::Pair>& sorted, double max_error) {
        return timed(own_times.sample, [&] { return CorrelatedSummary(sorted, max_error); });
    }
    template <class T>
    void add(T x, double weight) {
        whether_or_not([&] { pairs.add(KeyOf<T>::key(x), weight); },
                       [&, before = pairs.n()] {
                           if (pairs.n() == before) return;
                           ++count;
                           total.add(x);
                       });
    }
    // The summary of all pairs. If nothing was dropped from complete windows, nothing is dropped from the rest.
    const CorrelatedSummary& settled() {
        pairs.settle();
        if (!whole || whole->n() != count) {
            const auto error = histogram.is_exact() ? 0 : histogram.plan().max_error(1, count - histogram.n());
            const auto of_rest = sample_of_rest(error);
            whole = timed(own_times.merge, [&] { return CorrelatedSummary::merged(histogram.all(), of_rest, {}); });
        }
        return *whole;
    }
    // What is saved. If the incomplete window has more pairs than a sample of it has entries, a sample is saved.
    ExponentialHistogram<CorrelatedSummary> compact(std::vector<CorrelatedSummary::Pair>& rest) {
        pairs.settle();
        auto buckets = histogram;
        const auto waiting = count - histogram.n();
        if (waiting > max_kept(eps())) {
            buckets.add(sample_of_rest(buckets.plan().max_error(1, waiting)));
        } else {
            rest = pairs.rest();
        }
        return buckets;
    }
    void merge(CorrelatedState& from);
    [[nodiscard]] std::vector<std::byte> save() override;
    // The rest of the bytes, after eps, levels and window.
    void read(Reader& from, const ErrorPlan& plan);
    // `f` maps the aggregate; of a quantile, `number` must then be monotonic, if there is one. The exact threshold is a
    // key.
    using Map = std::function<Limit(const Limit&)>;
    [[nodiscard]] CorrelatedSum<Key> sum(const Aggregate& aggregate, const Map& f,
                                         const std::function<double(double)>& number);

    [[nodiscard]] std::uint64_t n() const override { return count; }
    [[nodiscard]] std::uint64_t nans() const override { return left_out; }
    [[nodiscard]] double eps() const override { return histogram.plan().eps; }
    [[nodiscard]] std::size_t summary_bytes() override {
        pairs.settle();
        return histogram.bytes();
    }
    [[nodiscard]] std::size_t bytes() override {
        return sizeof *this + histogram.memory() + pairs.bytes() + formula.capacity() + (whole ? whole->bytes() : 0);
    }
    [[nodiscard]] StreamTimes times() override { return times_of(pairs.sorter(), own_times, histogram); }

    KeyType type;
    std::function<double(double)> g;
    std::string formula;
    std::size_t window;
    PairIntake pairs;
    ExponentialHistogram<CorrelatedSummary> histogram;
    std::optional<CorrelatedSummary> whole;  // kept for answers
    std::uint64_t count = 0, left_out = 0;
    Total total;            // sum of x
    StreamTimes own_times;  // without those of the histogram

  private:
    void check_total(const Reader& from) const;
    [[nodiscard]] Estimate aggregate_of(const CorrelatedSummary& summary, const Aggregate& aggregate) const;
};

// The mean of x must be between min and max.
void CorrelatedState::check_total(const Reader& from) const {
    if (count == 0) return from.require(total.finite.sign() == 0 && !total.rises && !total.falls, "the sum of x");
    auto min = ~Key{0}, max = Key{0};
    const auto look = [&](Key key) {
        min = std::min(min, key);
        max = std::max(max, key);
    };
    for (const auto* part : histogram.parts()) {
        look(part->entries().front().key);
        look(part->entries().back().key);
    }
    for (const auto& pair : pairs.rest()) look(pair.key);
    from.require(total.falls == (limit_at(type, min).infinite < 0) && total.rises == (limit_at(type, max).infinite > 0),
                 "the sum of x");
    if (total.rises || total.falls) return;
    const auto mean = total.mean(count);
    from.require(sign_above(type, min, mean) >= 0 && sign_above(type, max, mean) <= 0, "the sum of x");
}

Estimate CorrelatedState::aggregate_of(const CorrelatedSummary& summary, const Aggregate& aggregate) const {
    const auto exactly = [](const Limit& limit) { return Estimate{limit, limit, limit}; };
    switch (aggregate.kind) {
        case Aggregate::Kind::Min:
            return exactly(limit_at(type, summary.entries().front().key));
        case Aggregate::Kind::Max:
            return exactly(limit_at(type, summary.entries().back().key));
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
    return {limit_at(type, at.lower), limit_at(type, at.nearest), limit_at(type, at.upper)};
}

CorrelatedSum<Key> CorrelatedState::sum(const Aggregate& aggregate, const Map& f,
                                        const std::function<double(double)>& number) {
    check_part("CorrelatedSums::sum", "phi", aggregate.phi);
    if (count == 0) throw InvalidArgument("CorrelatedSums::sum: there are no pairs yet");
    const std::lock_guard lock(mutex);
    const auto& summary = settled();
    if (number && aggregate.kind == Aggregate::Kind::Quantile) check_monotonic(type, summary, number);
    const auto of = aggregate_of(summary, aggregate);
    const Estimate at{f(of.lower), f(of.estimate), f(of.upper)};
    for (const auto* limit : {&at.lower, &at.estimate, &at.upper}) {
        if (std::isnan(limit->infinite)) throw InvalidArgument("CorrelatedSums::sum: f(AGG(x)) is not a number");
    }
    const auto at_most = [&](const std::optional<Key>& key) {
        return key ? summary.at_most(*key) : std::pair<CorrelatedSummary::Amounts, CorrelatedSummary::Amounts>{};
    };
    const auto key = key_at_most(type, at.estimate);
    const auto [lower, upper] = std::minmax({key_at_most(type, at.lower), key, key_at_most(type, at.upper)});
    const auto min = at_most(lower).first, max = at_most(upper).second;
    const auto [from, to] = at_most(key);
    return {at.estimate.nearest(), key && sign_above(type, *key, at.estimate) == 0 ? key : std::nullopt,
            CorrelatedSummary::mean_sum(from, to), summary.min_sum(min, max), summary.greatest_sum(max, min)};
}

void CorrelatedState::merge(CorrelatedState& from) {
    const std::lock_guard lock(from.mutex);
    check_merge("CorrelatedSums::merge", count, from.count, max_pairs);
    if (formula != from.formula)
        throw InvalidArgument("CorrelatedSums::merge: both must have the same formula, not '" + formula + "' and '" +
                              from.formula + "'");
    std::vector<CorrelatedSummary::Pair> rest;
    const auto buckets = from.compact(rest);
    auto merged = histogram;
    merged.raise_eps(from.eps());
    merged.merge(buckets);
    auto sum = total;
    sum.merge(from.total);
    pairs.keep(rest);  // if a line above throws, nothing is changed
    histogram = std::move(merged);
    total = std::move(sum);
    whole.reset();
    count += from.count;
    left_out += from.left_out;
}

std::vector<std::byte> CorrelatedState::save() {
    std::vector<CorrelatedSummary::Pair> rest;
    const auto buckets = compact(rest);
    Writer to({Kind::CorrelatedSums, type});
    to.f64(eps());
    to.u64(buckets.plan().levels);
    to.u64(window);
    to.u64(count);
    to.u64(left_out);
    total.write(to);
    buckets.write(to);
    to.u64(rest.size());
    for (const auto& [key, weight] : rest) {
        to.u64(key);
        to.f64(weight);
    }
    if (!formula.empty()) to.text(formula);
    return to.take();
}

void CorrelatedState::read(Reader& from, const ErrorPlan& plan) {
    count = from.u64();
    left_out = from.u64();
    from.require(count <= max_pairs && left_out <= max_values, "the number of pairs");
    total = Total::read(from);
    histogram = ExponentialHistogram<CorrelatedSummary>::read(from, plan);
    const auto rest = from.count(2);
    from.require(rest < window && rest <= max_kept(eps()) && histogram.n() <= count && rest == count - histogram.n(),
                 "the pairs of an unfinished window");
    for (std::size_t i = 0; i < rest; ++i) {
        const auto key = from.key(0);
        const double weight = from.f64();
        from.require(std::isfinite(weight), "a pair");
        pairs.add(key, weight);
    }
    if (!from.at_end()) from.require(!(formula = from.text()).empty(), "the formula");
    from.end();
    check_total(from);
}

}  // namespace detail::stream

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
CorrelatedSums<T>::CorrelatedSums(const CorrelatedSumOptions& options, std::unique_ptr<WindowSorter> sorter)
    : StreamSummary(std::make_unique<State>(type_of<T>(), options, std::move(sorter))) {}

template <class T>
void CorrelatedSums<T>::add(std::span<const T> x, std::span<const double> y) {
    auto& s = state();
    if (x.size() != y.size()) {
        throw InvalidArgument("CorrelatedSums::add: x and y must have the same length, " + std::to_string(x.size()) +
                              ", not " + std::to_string(y.size()));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (KeyOf<T>::is_nan(x[i]) || std::isnan(y[i])) {
            ++s.left_out;
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
CorrelatedSum<T> CorrelatedSums<T>::sum(const Aggregate& aggregate, const Affine& f) const {
    if (!std::isfinite(f.scale) || !std::isfinite(f.offset))
        throw InvalidArgument("CorrelatedSums::sum: scale and offset must be finite");
    const auto on_line = [&](const Limit& limit) {
        if (limit.infinite != 0) return limit_of(f.scale * limit.infinite + f.offset);
        Limit out{.divisor = limit.divisor};
        out.sum.add(limit.sum, f.scale);
        out.sum.add(f.offset, static_cast<double>(limit.divisor));
        return out;
    };
    return value_of<T>(state().sum(aggregate, on_line, {}));
}

template <class T>
CorrelatedSum<T> CorrelatedSums<T>::sum(const Aggregate& aggregate, const std::function<double(double)>& f) const {
    if (!f) return sum(aggregate);
    const auto of = [&](const Limit& limit) { return limit_of(f(limit.nearest())); };
    return value_of<T>(state().sum(aggregate, of, f));
}

template <class T>
void CorrelatedSums<T>::merge(const CorrelatedSums& other) {
    &other == this ? merge(load(save())) : state().merge(other.state());
}

template <class T>
const std::string& CorrelatedSums<T>::formula() const {
    return state().formula;
}

template <class T>
CorrelatedSums<T> CorrelatedSums<T>::load(std::span<const std::byte> bytes, std::function<double(double)> g,
                                          std::unique_ptr<WindowSorter> sorter) {
    auto from = open("CorrelatedSums::load", bytes, Kind::CorrelatedSums, type_of<T>());
    const double eps = read_eps(from, 1e-9);
    const auto levels = from.u64();
    from.require(levels >= 1 && levels <= ErrorPlan::max_ids, "the levels");
    CorrelatedSums loaded({.eps = eps, .window = read_window(from), .g = std::move(g)}, std::move(sorter));
    loaded.state().read(from, ErrorPlan::of_stream(eps, levels));
    return loaded;
}

QUADMILL_FOR_EACH_TYPE(CorrelatedSums)

}  // namespace quadmill
