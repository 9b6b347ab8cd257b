#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/correlated_summary.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/parts.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

namespace {

// The greatest key of a value that is at most that number; nothing when all are greater.
template <class T>
std::optional<Key> key_at_most(double v) {
    Key low = 0, high = KeyOf<T>::most;  // numbers ascend with keys; NaNs come last
    if constexpr (detail::cpu::is_float<T>) {
        high = KeyOf<T>::key(KeyOf<T>::Bits::value(KeyOf<T>::Bits::exponent));
    }
    if (number(KeyOf<T>::value(low)) > v) return {};
    while (low < high) {
        const auto middle = low + (high - low) / 2 + 1;
        if (number(KeyOf<T>::value(middle)) <= v) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// Windows of pairs in order of x. Keys of at most 32 bits go with their place through the sorter, as keys of 64 bits.
template <class T>
class PairIntake {
  public:
    using Pair = CorrelatedSummary::Pair;
    using Take = std::function<void(std::vector<Pair>)>;
    static constexpr bool packed = sizeof(T) <= 4;

    PairIntake(std::unique_ptr<WindowSorter> sorter, std::size_t window)
        : keys_(std::move(sorter), window), window_(window) {}

    void add(T x, double weight, const Take& take) {
        const auto key = KeyOf<T>::key(x);
        if constexpr (packed) {
            const std::uint64_t word = key << 32U | place_;
            whether_or_not(
                [&] {
                    keys_.add(std::span(&word, 1),
                              [&](const Window<std::uint64_t>& sorted) { take_window(sorted, take); });
                },
                [&] {
                    if (keys_.n() == n_) return;  // the sorter failed before it was taken
                    n_ = keys_.n();
                    weights_.push_back(weight);
                    place_ = (place_ + 1) % static_cast<std::uint32_t>(window_);
                });
        } else {
            rest_.push_back({key, weight});
            ++n_;
            if (rest_.size() < window_) return;
            auto full = std::exchange(rest_, {});
            sort(full);
            take(std::move(full));
        }
    }
    void settle(const Take& take) {
        if constexpr (packed) keys_.settle([&](const Window<std::uint64_t>& sorted) { take_window(sorted, take); });
    }
    // Pairs that fill no window yet, as they came. Pre: settle() was called last.
    [[nodiscard]] std::vector<Pair> rest() const {
        if constexpr (!packed) return rest_;
        std::vector<Pair> pairs;
        for (const auto word : keys_.rest()) pairs.push_back({word >> 32U, weights_[pairs.size()]});
        return pairs;
    }
    static void sort(std::vector<Pair>& pairs) {
        std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
    }
    [[nodiscard]] std::size_t bytes() const {
        return keys_.bytes() + weights_.size() * sizeof(double) + rest_.capacity() * sizeof(Pair);
    }
    [[nodiscard]] const WindowSorter& sorter() const { return keys_.sorter(); }
    [[nodiscard]] std::uint64_t n() const { return n_; }

  private:
    void take_window(const Window<std::uint64_t>& sorted, const Take& take) {
        std::vector<Pair> pairs(sorted.size());
        for (std::size_t i = 0; i < pairs.size(); ++i)
            pairs[i] = {sorted[i] >> 32U, weights_[static_cast<std::uint32_t>(sorted[i])]};
        weights_.erase(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(pairs.size()));
        take(std::move(pairs));
    }

    Intake<std::uint64_t> keys_;
    std::size_t window_;
    std::uint64_t n_ = 0;
    std::uint32_t place_ = 0;
    std::deque<double> weights_;  // of all windows that have not been taken
    std::vector<Pair> rest_;      // of keys of 64 bits
};

// The mean of many numbers, and how far it may be off for rounding.
struct Mean {
    double sum = 0, carry = 0, magnitude = 0;

    void add(double v) {  // Neumaier: what is lost of the smaller one goes to the carry
        const double next = sum + v;
        carry += std::abs(sum) >= std::abs(v) ? (sum - next) + v : (v - next) + sum;
        sum = next;
        magnitude += std::abs(v);
    }
    void merge(const Mean& other) {
        add(other.sum);
        magnitude += other.magnitude - std::abs(other.sum);
        carry += other.carry;
    }
    // Infinite values make it infinite, or no number.
    [[nodiscard]] double of(std::uint64_t n) const {
        return (std::isfinite(sum) ? sum + carry : sum) / static_cast<double>(n);
    }
    [[nodiscard]] double error(std::uint64_t n) const { return magnitude / static_cast<double>(n) * 0x1p-50; }
};

constexpr std::uint64_t most_pairs = std::uint64_t{1} << 52U;  // which doubles count exactly

}  // namespace

template <class T>
struct CorrelatedSums<T>::State {
    State(const CorrelatedSumOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : g(wanted.g),
          window(window_for("CorrelatedSums", wanted.eps, wanted.window)),
          pairs(std::move(sorter), window),
          histogram(ErrorPlan::planned(wanted.eps, wanted.n, window)) {}

    void take(std::vector<CorrelatedSummary::Pair> sorted) {
        const detail::cpu::Stopwatch time;
        CorrelatedSummary summary(sorted, histogram.plan().max_error(1, sorted.size()));
        sample_ms += time.ms();
        histogram.add(std::move(summary));
        whole.reset();
    }
    void add(T x, double weight) {
        whether_or_not([&] { pairs.add(x, weight, [this](auto sorted) { take(std::move(sorted)); }); },
                       [&, before = pairs.n()] {
                           if (pairs.n() == before) return;
                           ++n;
                           mean.add(number(x));
                       });
    }
    void settle() {
        pairs.settle([this](auto sorted) { take(std::move(sorted)); });
    }
    // Of all pairs.
    const CorrelatedSummary& settled() {
        settle();
        if (!whole || whole->n() != n) {
            auto rest = pairs.rest();
            PairIntake<T>::sort(rest);
            const auto error = histogram.plan().eps * static_cast<double>(rest.size());
            whole = CorrelatedSummary::merged(histogram.all(), CorrelatedSummary(rest, error));
        }
        return *whole;
    }

    std::function<double(double)> g;
    std::size_t window;
    PairIntake<T> pairs;
    ExponentialHistogram<CorrelatedSummary> histogram;
    std::optional<CorrelatedSummary> whole;  // for answers
    std::uint64_t n = 0, nans = 0;
    Mean mean;  // of x
    double sample_ms = 0;
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
        throw InvalidArgument("CorrelatedSums::add: there must be as many y as x, " + std::to_string(x.size()) +
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

// Of AGG(x): bounds and an estimate.
struct Estimate {
    double lower, estimate, upper;
};

template <class T>
Estimate aggregate_of(const CorrelatedSummary& summary, const Aggregate& aggregate, const Mean& mean) {
    const auto exactly = [](double v) { return Estimate{v, v, v}; };
    const auto value = [](Key key) { return number(KeyOf<T>::value(key)); };
    const double least = value(summary.entries().front().key), most = value(summary.entries().back().key);
    switch (aggregate.kind) {
        case Aggregate::Kind::Min:
            return exactly(least);
        case Aggregate::Kind::Max:
            return exactly(most);
        case Aggregate::Kind::Average: {
            const double average = mean.of(summary.n()), error = mean.error(summary.n());
            if (!std::isfinite(average) || !std::isfinite(error)) return exactly(average);
            return {std::clamp(average - error, least, most), std::clamp(average, least, most),
                    std::clamp(average + error, least, most)};
        }
        case Aggregate::Kind::Quantile:
            break;
    }
    const auto at = summary.at_rank(rank_of(aggregate.phi, summary.n()));
    return {value(at.lower), value(at.nearest), value(at.upper)};
}

}  // namespace

template <class T>
CorrelatedSum CorrelatedSums<T>::sum(const Aggregate& aggregate, const std::function<double(double)>& f) const {
    using S = CorrelatedSummary;
    check_part("CorrelatedSums::sum", "phi", aggregate.phi);
    if (n() == 0) throw InvalidArgument("CorrelatedSums::sum: there are no pairs yet");
    const auto& summary = state_->settled();
    const auto at = aggregate_of<T>(summary, aggregate, state_->mean);
    const double threshold = f(at.estimate);
    const auto [lower, upper] = std::minmax({f(at.lower), f(at.upper), threshold});
    if (std::isnan(threshold) || std::isnan(lower) || std::isnan(upper))
        throw InvalidArgument("CorrelatedSums::sum: f(AGG(x)) is not a number");
    const auto at_most = [&](double v) {
        const auto key = key_at_most<T>(v);
        return key ? summary.at_most(*key) : std::pair<S::Amounts, S::Amounts>{};
    };
    const auto least = at_most(lower).first, most = at_most(upper).second;
    const auto [from, to] = at_most(threshold);
    const double sum = (from[S::Positive] + to[S::Positive] - from[S::Negative] - to[S::Negative]) / 2;
    return {threshold, sum, least[S::Positive] - most[S::Negative], most[S::Positive] - least[S::Negative]};
}

template <class T>
void CorrelatedSums<T>::merge(const CorrelatedSums& other) {
    if (&other == this) return merge(load(save()));
    auto &s = *state_, &from = *other.state_;
    check_merge("CorrelatedSums::merge", s.n, from.n, most_pairs);
    from.settle();
    s.histogram.raise_eps(other.eps());
    s.histogram.merge(from.histogram);
    s.whole.reset();
    s.n += from.n;
    s.nans += from.nans;
    s.mean.merge(from.mean);
    for (const auto& [key, weight] : from.pairs.rest())
        s.pairs.add(KeyOf<T>::value(key), weight, [&](auto sorted) { s.take(std::move(sorted)); });
}

template <class T>
std::vector<std::byte> CorrelatedSums<T>::save() const {
    auto& s = *state_;
    s.settle();
    Writer to({Kind::CorrelatedSums, type_of<T>()});
    to.f64(eps());
    to.u64(s.histogram.plan().levels);
    to.u64(s.window);
    to.u64(s.n);
    to.u64(s.nans);
    for (const double part : {s.mean.sum, s.mean.carry, s.mean.magnitude}) to.f64(part);
    s.histogram.write(to);
    const auto rest = s.pairs.rest();
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
    auto from = open<T>("CorrelatedSums::load", bytes, Kind::CorrelatedSums);
    const double eps = read_eps(from, 1e-9);
    const auto levels = from.u64();
    from.require(levels >= 1 && levels <= ErrorPlan::most_ids, "the levels");
    const auto window = read_window(from);
    CorrelatedSums loaded({.eps = eps, .n = {}, .window = window, .g = std::move(g)}, std::move(sorter));
    auto& s = *loaded.state_;
    s.n = from.u64();
    s.nans = from.u64();
    for (auto* part : {&s.mean.sum, &s.mean.carry, &s.mean.magnitude}) *part = from.f64();
    from.require(s.n <= most_pairs && s.nans <= most_values, "the number of pairs");
    s.histogram = ExponentialHistogram<CorrelatedSummary>::read(from, {eps, levels});
    const auto rest = from.count(2 * sizeof(std::uint64_t));
    from.require(rest < window && s.histogram.n() + rest == s.n, "the pairs of an unfinished window");
    for (std::size_t i = 0; i < rest; ++i) {
        const auto key = from.u64();
        const double weight = from.f64();
        from.require(key <= KeyOf<T>::most && !KeyOf<T>::is_nan(KeyOf<T>::value(key)) && std::isfinite(weight),
                     "a pair");
        s.pairs.add(KeyOf<T>::value(key), weight, [&](auto sorted) { s.take(std::move(sorted)); });
    }
    from.end();
    return loaded;
}

template <class T>
std::size_t CorrelatedSums<T>::summary_bytes() const {
    return state_->histogram.bytes();
}

template <class T>
std::size_t CorrelatedSums<T>::bytes() const {
    const auto& s = *state_;
    return sizeof s + s.histogram.bytes() + s.pairs.bytes() + (s.whole ? s.whole->bytes() : 0);
}

template <class T>
StreamTimes CorrelatedSums<T>::times() const {
    auto times = times_of(state_->pairs.sorter());
    times.sample = state_->sample_ms;
    times.merge = state_->histogram.merge_ms();
    times.compress = state_->histogram.compress_ms();
    return times;
}

QUADMILL_FOR_EACH_TYPE(CorrelatedSums)

}  // namespace quadmill
