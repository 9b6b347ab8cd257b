#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "cpu/numbers.hpp"
#include "stream/quantiles_state.hpp"

namespace quadmill::detail::stream {

namespace {

Count middle_of(const Bounds& bounds) {
    return {bounds.lower, bounds.lower + (bounds.upper - bounds.lower) / 2, bounds.upper};
}

}  // namespace

QuantilesState::QuantilesState(const KeyRule& rule, const QuantileOptions& wanted, std::unique_ptr<WindowSorter> sorter)
    : WindowedState(rule, window_for("Quantiles", wanted.eps, wanted.window, *sorter, wanted.tail == Tail::Off ? 1 : 8),
                    std::move(sorter)),
      histogram(ErrorPlan::planned(wanted.eps, wanted.n, window, wanted.tail)) {
    if (wanted.moments == Moments::Kept) sums.emplace();
    plan_samples();
}

void QuantilesState::plan_samples() {
    if (absorbs()) intake.leave_unsorted();
    if (tail() != Tail::Off) return;
    const auto gap = QuantileSummary::gap_for(histogram.plan().max_error(1, window));
    intake.sample(std::min<std::uint64_t>(gap, std::max<std::size_t>(window, 2) - 1));
}

// With a tail, windows of wide values go to one summary and need not be sorted. Otherwise a sample reads values that
// are far apart, and waits for memory.
void QuantilesState::take(const Windows& sorted) {
    of_rest.reset();
    if (absorbs()) {
        return timed(own_times.sample, [&] {
            for (std::size_t i = 0; i < sorted.size(); ++i) absorb(sorted[i]);
        });
    }
    own_times.sample += histogram.add_windows(
        sorted.size(),
        [&](QuantileSummary& made, std::size_t i, const Share& share) {
            const auto one = sorted[i];
            const auto step = intake.step();
            made = step > 0 ? QuantileSummary::of_sample(window, step, one, share)
                            : QuantileSummary::of(one, histogram.plan().max_error(1, one.size()), share, tail());
        },
        intake.share());
}

// A window that does not fit the one summary goes the way of windows without it.
void QuantilesState::absorb(const Window& values) {
    if constexpr (!for_size) {
        constexpr std::size_t id = 24;  // leaves 8 ids for merges before this is saved
        QuantileSummary first;
        auto* const all = histogram.bucket(id) ? &histogram.own_bucket(id) : &first;
        if (!all->absorb(values, histogram.plan().max_error(id, 1), tail(), intake.share())) {
            std::vector<Key> keys;
            for (std::size_t i = 0; i < values.size(); ++i) keys.push_back(values[i]);
            cpu::sort_numbers(std::span(keys));
            const auto error = histogram.plan().max_error(1, keys.size());
            const auto at = [&](std::uint64_t i) { return keys[static_cast<std::size_t>(i)]; };
            histogram.add(QuantileSummary::of_keys(keys.size(), at, error, intake.share(), tail()), 1, intake.share());
        } else if (all == &first) {
            histogram.own_bucket(id) = std::move(first);
        }
    }
}

const QuantileSummary& QuantilesState::summary_of_rest() {
    if (of_rest && of_rest->n() == intake.rest().size()) return *of_rest;
    const auto rest = intake.settle_all();
    const double error = histogram.is_exact() ? 0 : histogram.plan().max_error(1, rest.size());
    of_rest = timed(own_times.sample, [&] { return QuantileSummary::of(rest, error, intake.share(), tail()); });
    of_rest->pack();
    intake.trim();
    return *of_rest;
}

// If nothing was dropped from complete windows, nothing is dropped from the rest. The errors of parts add up. A few
// ranks are found in the parts themselves; for many ranks it is faster to merge the parts first.
void QuantilesState::ask(std::size_t ranks, const Ask& work) {
    const std::lock_guard lock(mutex);
    intake.settle();
    histogram.settle();
    const auto& rest = summary_of_rest();
    auto list = histogram.parts();
    list.push_back(&rest);
    const QuantileParts parts(list);
    constexpr std::size_t merging_pays = 1024;  // entries per rank
    if (list.size() < 2 || ranks < parts.size() / merging_pays) return work(parts);
    const auto all = timed(own_times.merge, [&] {
        return QuantileSummary::merged(histogram.all(intake.share()), rest, {}, intake.share());
    });
    work(QuantileParts({&all}));
}

void QuantilesState::compact(const Use& use) {
    const std::lock_guard lock(mutex);
    intake.settle();
    if (intake.rest().size() <= max_kept(eps())) {
        use(histogram, intake.settle_all());
        return intake.trim();
    }
    auto buckets = histogram;
    const auto& rest = summary_of_rest();
    const auto at = [&](std::uint64_t i) { return rest.key(static_cast<std::size_t>(i)); };
    const auto error = buckets.plan().max_error(1, rest.n());
    buckets.wait(std::make_shared<QuantileSummary>(
                     rest.is_exact() ? QuantileSummary::of_keys(rest.n(), at, error, intake.share(), tail()) : rest),
                 1);
    use(buckets, Window({}, intake.rule()));
}

void QuantilesState::add_sample(std::uint64_t n, std::uint64_t nans, std::uint64_t step, const Values& values) {
    const std::string function = "Quantiles::add_sample";
    if (tail() != Tail::Off || sums)
        throw InvalidArgument(function + ": a summary with a tail or moments takes all values, not a sample of them");
    check_merge(function, intake.n(), n);
    check_merge(function, intake.nans(), nans);
    const Window keys(values, intake.rule());
    if (n > 0) {
        const auto max = QuantileSummary::gap_for(histogram.plan().max_error(1, n));
        if (step < 1 || step > max)
            throw InvalidArgument(function + ": of " + std::to_string(n) + " values, a step is from 1 to " +
                                  std::to_string(max) + " ranks, not " + std::to_string(step));
    }
    step = std::clamp<std::uint64_t>(step, 1, std::max<std::uint64_t>(n, 2) - 1);
    const auto size = QuantileSummary::steps(n, step);
    if (values.size() != size)
        throw InvalidArgument(function + ": a sample of " + std::to_string(n) + " values in steps of " +
                              std::to_string(step) + " has " + std::to_string(size) + ", not " +
                              std::to_string(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (intake.rule().is_nan(values[i]) || (i > 0 && keys[i] < keys[i - 1]))
            throw InvalidArgument(function + ": values must ascend, and be numbers; value " + std::to_string(i) +
                                  " does not");
    }
    intake.settle();
    if (n > 0) histogram.add(QuantileSummary::of_sample(n, step, keys), 1, intake.share());
    of_rest.reset();
    intake.add_counted(n, nans);
}

void QuantilesState::add_weighted(const Values& values, std::span<const std::uint64_t> weights) {
    const WeightedKeys keys("Quantiles::add", intake, values, weights);
    intake.settle();
    if (keys.n() > 0) {
        const auto error = histogram.plan().max_error(1, keys.n());
        const auto at = [&](std::uint64_t i) { return keys[i]; };
        histogram.add(QuantileSummary::of_keys(keys.n(), at, error, intake.share(), tail()), 1, intake.share());
    }
    of_rest.reset();
    intake.add_counted(keys.n(), keys.nans());
}

void QuantilesState::merge(std::span<QuantilesState* const> others) {
    auto merged = histogram;
    auto all = sums;
    Buffer rests(intake.rule().width);
    std::uint64_t more = 0, nans = 0;
    for (const auto* other : others) {
        check_merge("Quantiles::merge", n() + more, other->n());
        more += other->n();
        if (tail() != other->tail())
            throw InvalidArgument(
                "Quantiles::merge: both must have the same tail, because their errors are not comparable");
        merged.raise_eps(other->eps());
        nans += other->intake.nans();
        if (all && other->n() > 0) other->sums ? all->add(*other->sums) : all.reset();
    }
    for (auto* other : others) {
        other->compact([&](const Histogram& buckets, const Window& rest) {
            merged.merge(buckets, intake.share());
            rests.append(rest.values());
        });
    }
    merged.pack();
    intake.keep(rests.values());  // if this or a line above throws, nothing is changed
    histogram = std::move(merged);
    of_rest.reset();
    intake.add_counted(more - rests.size(), nans);
    sums = all;
}

auto QuantilesState::compacted(const Histogram& buckets, const Window& rest) -> Histogram {
    const auto& plan = buckets.plan();
    const auto last = buckets.last_id();
    if (rest.size() == 0 && last > ErrorPlan::live_ids && buckets.parts().size() == 1) return buckets;
    const auto share = intake.share();
    auto sampled = QuantileSummary::of(rest, plan.max_error(1, rest.size()), share, tail());
    const auto all = QuantileSummary::merged(buckets.all(share), sampled, {}, share);
    // The first error that leaves few entries, unless that would take more than 12 ids, which have four fifths of the
    // rest.
    const auto few =
        2 * (tail() == Tail::Both ? 2 : 1) * (1 + std::log1p(plan.eps * static_cast<double>(all.n()))) / plan.eps;
    auto id = std::min(std::max(ErrorPlan::live_ids, last) + 1, Histogram::max_ids);
    for (const auto max = std::min(id + 12, Histogram::max_ids);; ++id) {
        auto pruned = all;
        pruned.prune(plan.max_error(id, all.n()), share);
        if (static_cast<double>(pruned.size()) > few && id < max) continue;
        Histogram one(plan);
        one.add(std::move(pruned), id);
        return one;
    }
}

std::vector<std::byte> QuantilesState::save() {
    const bool is_tail = tail() != Tail::Off;
    Writer to({is_tail ? Kind::TailQuantiles : Kind::Quantiles, intake.rule().type});
    compact([&](const Histogram& buckets, const Window& rest) {
        to.f64(buckets.plan().eps);
        to.u64(is_tail ? static_cast<std::uint64_t>(tail()) : buckets.plan().levels);
        to.u64(window);
        to.u64(intake.nans());
        auto settled = buckets;
        settled.settle();
        if (is_tail && buckets.n() > 0) {
            compacted(settled, rest).write(to);
            to.u64(0);
        } else {
            settled.write(to);
            write_sorted(to, rest);
        }
    });
    if (sums) {
        to.f64(sums->mean);
        to.f64(sums->squares);
    }
    return to.take();
}

std::unique_ptr<QuantilesState> QuantilesState::load(const KeyRule& rule, std::span<const std::byte> bytes,
                                                     std::unique_ptr<WindowSorter> sorter) {
    auto from = open("Quantiles::load", bytes, Kind::Quantiles, rule.type, Kind::TailQuantiles);
    const bool is_tail = from.header().kind == Kind::TailQuantiles;
    const double eps = read_eps(from, 1e-9);
    const auto levels = from.u64();
    from.require(levels >= 1 && levels <= (is_tail ? 3 : ErrorPlan::max_ids), "the levels");
    const auto tail = is_tail ? static_cast<Tail>(levels) : Tail::Off;
    const auto window = read_window(from);
    const auto nans = from.u64();
    auto loaded = std::make_unique<QuantilesState>(
        rule, QuantileOptions{.eps = eps, .n = {}, .window = window, .tail = tail}, std::move(sorter));
    auto plan = ErrorPlan::of_stream(eps, is_tail ? 1 : levels);
    plan.tail = tail;
    loaded->histogram = Histogram::read(from, plan, tail);
    loaded->plan_samples();
    from.require(nans <= max_values && loaded->histogram.n() <= max_values, "the number of values");
    loaded->intake.add_counted(loaded->histogram.n(), nans);
    const auto rest = read_sorted(from, std::min<std::uint64_t>(window - 1, max_kept(eps)), rule);
    if (!from.at_end()) {
        const auto mean = from.f64(), squares = from.f64();
        from.require(!(squares < 0), "the moments");
        loaded->sums = {loaded->histogram.n() + rest.size(), mean, squares};
    }
    from.end();
    loaded->intake.add(rest.values());
    return loaded;
}

void Sums::add(const Sums& block) {
    if (block.n == 0) return;
    const auto all = static_cast<double>(n + block.n), part = static_cast<double>(block.n) / all;
    const auto apart = block.mean - mean;
    squares += block.squares + apart * apart * part * static_cast<double>(n);
    mean += apart * part;
    n += block.n;
}

// Sums of differences to one of the values are rounded less. Eight sums at a time become vector instructions.
template <class T>
void Sums::add(std::span<const T> values) {
    constexpr std::size_t lanes = 8;
    const auto near = std::ranges::find_if(values, [](T v) { return std::isfinite(number(v)); });
    const auto origin = near == values.end() ? 0 : number(*near);
    std::array<double, lanes> sums{}, squares_of{};
    const auto whole = values.size() / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes) {
        for (std::size_t k = 0; k < lanes; ++k) {
            const auto above = number(values[i + k]) - origin;
            sums[k] += above;
            squares_of[k] += above * above;
        }
    }
    Sums block;
    double sum = 0, square = 0;
    const auto add_from = [&](std::size_t first) {
        for (const T value : values.subspan(first)) {
            const auto above = number(value) - origin;
            if (std::isnan(above)) continue;
            ++block.n;
            sum += above;
            square += above * above;
        }
    };
    for (std::size_t k = 0; k < lanes; ++k) sum += sums[k], square += squares_of[k];
    block.n = whole;
    if (std::isnan(sum)) sum = square = 0, block.n = 0;  // there are NaNs, or infinite values of both signs
    add_from(block.n);
    if (block.n == 0) return;
    const auto size = static_cast<double>(block.n);
    block.mean = origin + sum / size;
    block.squares = std::max(square - sum * (sum / size), 0.0);
    add(block);
}

std::vector<Quantile<Key>> answers(const QuantileParts& summary, std::span<const double> phis) {
    std::vector<Quantile<Key>> out;
    for (const double phi : phis) {
        const auto rank = rank_of(phi, summary.n());
        const auto entry = summary.at_rank(rank);
        out.push_back({phi, entry.key, rank, entry.rank_min, entry.rank_max});
    }
    return out;
}

namespace {

std::vector<Bar<Key>> bars_of(const QuantileParts& summary, std::size_t bars) {
    std::vector<Bar<Key>> out;
    auto from = summary.min();
    Count below{};
    for (std::size_t i = 1; i <= bars; ++i) {
        const double phi = static_cast<double>(i) / static_cast<double>(bars);
        const auto to = i == bars ? summary.greatest() : summary.at_rank(rank_of(phi, summary.n())).key;
        if (to <= from && !out.empty()) continue;
        const auto at_most = middle_of(summary.count_at_most(to));
        out.push_back({from,
                       to,
                       {saturating_sub(at_most.lower, below.upper), saturating_sub(at_most.estimate, below.estimate),
                        saturating_sub(at_most.upper, below.lower)}});
        below = at_most;
        from = to;
    }
    return out;
}

}  // namespace
}  // namespace quadmill::detail::stream

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
Quantiles<T>::Quantiles(const QuantileOptions& options, std::unique_ptr<WindowSorter> sorter)
    : Quantiles(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}

template <class T>
void Quantiles<T>::add(std::span<const T> values) {
    constexpr std::size_t piece = 4096;  // of which the cache keeps values until they are copied
    if (!state().sums) return state().intake.add(values);
    for (; !values.empty(); values = values.subspan(std::min(piece, values.size()))) {
        const auto some = values.first(std::min(piece, values.size()));
        state().intake.add(some);
        state().sums->add(some);
    }
}

template <class T>
void Quantiles<T>::add(T value) {
    state().intake.add_one(detail::cpu::KeyBits<T>::of(value));
    if (state().sums) state().sums->add(std::span<const T>(&value, 1));
}

template <class T>
void Quantiles<T>::add(std::span<const T> values, std::span<const std::uint64_t> weights) {
    state().add_weighted(values, weights);
    if (!state().sums) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (const auto value = number(values[i]); !std::isnan(value)) state().sums->add({weights[i], value, 0});
    }
}

template <class T>
double Quantiles<T>::sample_eps() const {
    return state().histogram.plan().max_error(1, 1);
}

template <class T>
void Quantiles<T>::add_sample(const RankSample<T>& sample) {
    state().add_sample(sample.n, sample.nans, sample.step, std::span(sample.values));
}

template <class T>
Tail Quantiles<T>::tail() const {
    return state().tail();
}

template <class T>
Stats<T> Quantiles<T>::stats() const {
    if (!state().sums)
        throw InvalidArgument("Quantiles::stats: no moments were kept; make every merged summary with Moments::Kept");
    const auto ends = quantiles({0, 1});
    const auto& sums = *state().sums;
    const auto others = static_cast<double>(std::max<std::uint64_t>(sums.n, 2) - 1);
    return {n(), ends[0].value, ends[1].value, sums.mean, sums.squares / others};
}

template <class T>
Quantile<T> Quantiles<T>::quantile(double phi) const {
    return quantiles(std::span<const double>(&phi, 1)).front();
}

template <class T>
std::vector<Quantile<T>> Quantiles<T>::quantiles(std::span<const double> phis) const {
    for (const double phi : phis) check_part("Quantiles::quantiles", "phi", phi);
    if (n() == 0) throw InvalidArgument("Quantiles::quantiles: there are no values yet");
    std::vector<Quantile<Key>> keys;
    state().ask(phis.size(), [&](const QuantileParts& all) { keys = answers(all, phis); });
    return values_of<T>(keys);
}

template <class T>
Count Quantiles<T>::rank(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Quantiles::rank: a NaN has no rank");
    Count count{};
    if (n() == 0) return count;
    state().ask(1, [&](const QuantileParts& all) { count = middle_of(all.count_at_most(KeyOf<T>::key(value))); });
    return count;
}

template <class T>
typename Quantiles<T>::Part Quantiles<T>::cdf(T value) const {
    if (n() == 0) throw InvalidArgument("Quantiles::cdf: there are no values yet");
    const auto count = rank(value);
    const auto part = [all = static_cast<double>(n())](std::uint64_t c) { return static_cast<double>(c) / all; };
    return {part(count.lower), part(count.estimate), part(count.upper)};
}

template <class T>
std::vector<Bar<T>> Quantiles<T>::histogram(std::size_t bars) const {
    if (bars == 0) throw InvalidArgument("Quantiles::histogram: there must be at least one bar");
    std::vector<Bar<T>> out;
    if (n() == 0) return out;
    state().ask(2 * bars, [&](const QuantileParts& all) {
        for (const auto& bar : bars_of(all, bars))
            out.push_back({KeyOf<T>::value(bar.from), KeyOf<T>::value(bar.to), bar.count});
    });
    return out;
}

template <class T>
void Quantiles<T>::merge(const Quantiles& other) {
    if (&other == this) return merge(load(save()));
    state().merge(std::array{&other.state()});
}

template <class T>
void Quantiles<T>::merge(std::span<const Quantiles> others) {
    std::vector<State*> states;
    for (const auto& other : others) {
        if (&other == this) throw InvalidArgument("Quantiles::merge: a span that contains the summary itself");
        states.push_back(&other.state());
    }
    state().merge(states);
}

template <class T>
Quantiles<T> Quantiles<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return Quantiles(State::load(rule_of<T>, bytes, std::move(sorter)));
}

QUADMILL_FOR_EACH_TYPE(Quantiles)

}  // namespace quadmill
