// The inside of a Quantiles. A sliding window makes one, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cpu/numbers.hpp"
#include "quadmill/stream.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/parts.hpp"
#include "stream/quantile_parts.hpp"
#include "stream/quantile_summary.hpp"
#include "stream/summary_state.hpp"

namespace quadmill::detail::stream {

// Mean and spread of values. Source: Chan, Golub and LeVeque, 1979: blocks are added by their own means.
struct Sums {
    std::uint64_t n = 0;
    double mean = 0, squares = 0;  // squares: the sum of (x - mean)^2

    template <class T>
    void add(std::span<const T> values);
    void add(const Sums& block);
};

struct QuantilesState final : WindowedState {
    using Histogram = ExponentialHistogram<QuantileSummary>;
    // Whether a summary with a tail takes windows that are not sorted. For 64-bit values, a search among the entries is
    // faster than sorting. For 32-bit values it is slower. The window must have more values than the summary has
    // entries.
    [[nodiscard]] bool absorbs() const {
        constexpr double values = 128;  // for each 1 / eps
        return intake.rule().width == sizeof(Key) && !for_size && tail() != Tail::Off &&
               static_cast<double>(window) * eps() >= values;
    }

    QuantilesState(const KeyRule& rule, const QuantileOptions& wanted, std::unique_ptr<WindowSorter> sorter)
        : WindowedState(rule,
                        window_for("Quantiles", wanted.eps, wanted.window, *sorter, wanted.tail == Tail::Off ? 1 : 8),
                        std::move(sorter)),
          histogram(ErrorPlan::planned(wanted.eps, wanted.n, window, wanted.tail)) {
        if (wanted.moments == Moments::Kept) sums.emplace();
        plan_samples();
    }
    static std::unique_ptr<QuantilesState> load(const KeyRule& rule, std::span<const std::byte> bytes,
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
    [[nodiscard]] std::vector<std::byte> save() override {
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

    // Windows are sampled as the histogram's plan allows, in the sorter if it can. Pre: no values have come.
    void plan_samples() {
        if (absorbs()) intake.leave_unsorted();
        if (tail() != Tail::Off) return;
        const auto gap = QuantileSummary::gap_for(histogram.plan().max_error(1, window));
        intake.sample(std::min<std::uint64_t>(gap, std::max<std::size_t>(window, 2) - 1));
    }
    // With a tail, windows of wide values go to one summary and need not be sorted. Otherwise a sample reads values
    // that are far apart, and waits for memory.
    void take(const Windows& sorted) override {
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
    void absorb(const Window& values) {
        if constexpr (!for_size) {
            constexpr std::size_t id = 24;  // leaves 8 ids for merges before this is saved
            QuantileSummary first;
            auto* const all = histogram.bucket(id) ? &histogram.own_bucket(id) : &first;
            if (!all->absorb(values, histogram.plan().max_error(id, 1), tail(), intake.share())) {
                std::vector<Key> keys;
                for (std::size_t i = 0; i < values.size(); ++i) keys.push_back(values[i]);
                cpu::sort_numbers(std::span(keys));
                const auto error = histogram.plan().max_error(1, keys.size());
                const auto share = intake.share();
                histogram.add(QuantileSummary::of(window_of(keys), error, share, tail()), 1, share);
            } else if (all == &first) {
                histogram.own_bucket(id) = std::move(first);
            }
        }
    }
    std::uint64_t failed() override {
        of_rest.reset();
        return histogram.n();
    }
    // As Quantiles::add_sample(): a sample of n values, with the keys at those values.
    void add_sample(std::uint64_t n, std::uint64_t nans, std::uint64_t step, const Values& values) {
        const std::string function = "Quantiles::add_sample";
        const auto fail = [&](const std::string& why) { throw InvalidArgument(function + ": " + why); };
        if (tail() != Tail::Off || sums)
            fail("a summary with a tail or moments takes all values, not a sample of them");
        check_merge(function, intake.n(), n);
        check_merge(function, intake.nans(), nans);
        const Window keys(values, intake.rule());
        if (n > 0) {
            const auto max = QuantileSummary::gap_for(histogram.plan().max_error(1, n));
            if (step < 1 || step > max) {
                fail("of " + std::to_string(n) + " values, a step is from 1 to " + std::to_string(max) +
                     " ranks, not " + std::to_string(step));
            }
        }
        step = std::clamp<std::uint64_t>(step, 1, std::max<std::uint64_t>(n, 2) - 1);
        const auto size = QuantileSummary::steps(n, step);
        if (values.size() != size) {
            fail("a sample of " + std::to_string(n) + " values in steps of " + std::to_string(step) + " has " +
                 std::to_string(size) + ", not " + std::to_string(values.size()));
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (intake.rule().is_nan(values[i]) || (i > 0 && keys[i] < keys[i - 1]))
                fail("values must ascend, and be numbers; value " + std::to_string(i) + " does not");
        }
        intake.settle();
        if (n > 0) histogram.add(QuantileSummary::of_sample(n, step, keys), 1, intake.share());
        of_rest.reset();
        intake.add_counted(n, nans);
    }
    // As Quantiles::add() with weights, except for the moments.
    void add_weighted(const Values& values, std::span<const std::uint64_t> weights) {
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
    void merge(std::span<QuantilesState* const> others) {
        auto merged = histogram;
        auto all = sums;
        Buffer rests(intake.rule().width);
        std::uint64_t more = 0, nans = 0;
        for (const auto* other : others) {
            check_merge("Quantiles::merge", n() + more, other->n());
            more += other->n();
            if (tail() != other->tail())
                throw InvalidArgument("Quantiles::merge: both must have the same tail, as errors are not comparable");
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
    // The values of the incomplete window. If nothing was dropped from complete ones, nothing is dropped from these.
    const QuantileSummary& summary_of_rest() {
        if (of_rest && of_rest->n() == intake.rest().size()) return *of_rest;
        const auto rest = intake.settle_all();
        const double error = histogram.is_exact() ? 0 : histogram.plan().max_error(1, rest.size());
        of_rest = timed(own_times.sample, [&] { return QuantileSummary::of(rest, error, intake.share(), tail()); });
        of_rest->pack();
        intake.trim();
        return *of_rest;
    }
    // A tail is saved as one summary.
    [[nodiscard]] Histogram compacted(const Histogram& buckets, const Window& rest) {
        const auto& plan = buckets.plan();
        const auto last = buckets.last_id();
        if (rest.size() == 0 && last > ErrorPlan::live_ids && buckets.parts().size() == 1) return buckets;
        const auto share = intake.share();
        auto sampled = QuantileSummary::of(rest, plan.max_error(1, rest.size()), share, tail());
        const auto all = QuantileSummary::merged(buckets.all(share), sampled, {}, share);
        // The first error that leaves few entries, unless that would take more than 12 ids, which have four fifths of
        // the rest.
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
    using Ask = Callable<void(const QuantileParts&)>;
    // Calls `work` with all values, for a query of that many ranks. The errors of parts add up. A few ranks are found
    // in the parts themselves; for many ranks it is faster to merge the parts first.
    void ask(std::size_t ranks, const Ask& work) {
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
    // Calls `work` with the state to save: the histogram, with a sample of a long incomplete window or with a short one
    // unchanged.
    using Use = Callable<void(const Histogram&, const Window&)>;
    void compact(const Use& use) {
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
        buckets.wait(
            std::make_shared<QuantileSummary>(
                rest.is_exact() ? QuantileSummary::of_keys(rest.n(), at, error, intake.share(), tail()) : rest),
            1);
        use(buckets, Window({}, intake.rule()));
    }

    [[nodiscard]] double eps() const override { return histogram.plan().eps; }
    [[nodiscard]] Tail tail() const { return histogram.plan().tail; }
    [[nodiscard]] std::size_t summary_bytes() override {
        intake.settle();
        histogram.settle();
        return histogram.bytes();
    }
    [[nodiscard]] std::size_t bytes() override {
        return sizeof *this + histogram.memory() + intake.bytes() + (of_rest ? of_rest->memory() : 0);
    }
    [[nodiscard]] StreamTimes times() override { return times_of(intake.sorter(), own_times, histogram); }

    Histogram histogram;
    std::optional<QuantileSummary> of_rest;  // kept for answers until values are added
    std::optional<Sums> sums;                // if moments are kept
};

// Answers as keys.
[[nodiscard]] std::vector<Quantile<Key>> answers(const QuantileParts& summary, std::span<const double> phis);

template <class T>
[[nodiscard]] std::vector<Quantile<T>> values_of(const std::vector<Quantile<Key>>& answers) {
    std::vector<Quantile<T>> out;
    out.reserve(answers.size());
    for (const auto& a : answers) out.push_back({a.phi, KeyOf<T>::value(a.value), a.rank, a.rank_lower, a.rank_upper});
    return out;
}

}  // namespace quadmill::detail::stream
