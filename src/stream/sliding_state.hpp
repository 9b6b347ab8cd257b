// Common state of the two sliding classes: the last values, and the blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "stream/block_trees.hpp"
#include "stream/level_sorts.hpp"
#include "stream/parts.hpp"
#include "stream/sliding_window.hpp"
#include "stream/summary_state.hpp"

namespace quadmill::detail::stream {

inline const SlidingOptions& checked(const std::string& name, const SlidingOptions& options) {
    check_eps(name, options.eps, SlidingPlan::min_eps);
    if (options.window < 1 || options.window > SlidingPlan::max_window) {
        throw InvalidArgument(name + ": the window must be from 1 to 2^40 values, not " +
                              std::to_string(options.window));
    }
    if (options.paper.blocks == SlidingBlocks::Sorted && options.widths == Widths::Variable) {
        throw InvalidArgument(name +
                              ": levels that sort for themselves serve windows of fixed width; use "
                              "SlidingBlocks::Merged for variable ones");
    }
    return options;
}

// Throws InvalidArgument if a window may take that many bytes, and they are too many.
inline void check_bytes(const std::string& name, const SlidingOptions& options, double bytes) {
    if (bytes <= static_cast<double>(options.max_bytes)) return;
    throw InvalidArgument(name + ": a window of " + std::to_string(options.window) + " values with eps " +
                          text_of(options.eps) + " may take " + text_of(bytes / 0x1p30) + " GiB, more than the " +
                          text_of(static_cast<double>(options.max_bytes) / 0x1p30) +
                          " GiB of max_bytes; take a larger eps" +
                          (for_size ? " or a shorter window" : ", a shorter window or fewer threads"));
}

// Appends all values but the NaNs, of which there are that many.
inline void append_numbers(Buffer& to, const Values& values, const KeyRule& rule, std::size_t nans) {
    const auto before = to.size();
    to.append(values);
    if (nans > 0) drop_nans(to, before, rule);
}

// The last values of a stream, in the order of their arrival.
class Last {
  public:
    Last(const KeyRule& rule, std::uint64_t capacity)
        : rule_(rule), capacity_(static_cast<std::size_t>(capacity)), values_(rule.width), sorted_(rule.width) {}
    // Reserves space for that many values, so that add() cannot fail.
    void reserve(std::size_t count) {
        const auto size = std::min(max(), values_.size() + count);
        if (values_.capacity() >= size) return;
        values_.reserve(2 * size >= max() ? max() : std::max(size, 2 * values_.capacity()));
    }
    // Returns the number of NaNs, which are left out. If memory runs out, nothing is changed.
    std::size_t add(Values values) {
        std::size_t nans = 0;
        if (capacity_ == 0) return nans;
        reserve(values.size());
        for (; !values.empty(); values = values.from(std::min(values.size(), piece()))) {
            const auto part = values.first(std::min(values.size(), piece()));
            const auto left_out = count_nans(part, rule_), size = values_.size() + part.size() - left_out;
            if (size + left_out > max())  // so at most four values are moved for each value or NaN that comes
                values_.erase_first(size - capacity_);
            append_numbers(values_, part, rule_, left_out);
            nans += left_out;
        }
        return nans;
    }
    // Returns fewer if there are fewer.
    [[nodiscard]] Values last(std::uint64_t count) const {
        return values_.values().last(static_cast<std::size_t>(std::min<std::uint64_t>(count, values_.size())));
    }
    using Sort = Callable<void(Buffer&)>;
    // The last `width` of all `n` values, sorted. A later call for as many merges new values and removes old ones.
    Window sorted(std::uint64_t width, std::uint64_t n, const Sort& sort) {
        const auto size = static_cast<std::size_t>(std::min(width, n));
        const auto fresh = n - n_, gone = sorted_.size() + fresh - size;
        const auto copy = [&](const Values& values) {
            Buffer out(values);
            if (!out.empty()) sort(out);
            return out;
        };
        if (width == width_ && fresh <= size / 8 && values_.size() >= size + gone) {
            auto in = copy(last(fresh)), out = copy(last(size + gone).first(static_cast<std::size_t>(gone)));
            with_width(rule_.width, [&]<class Bits>(Bits /*width*/) { change<Bits>(in, out); });
        } else {
            sorted_ = copy(last(size));
        }
        width_ = width;
        n_ = n;
        return {sorted_.values(), rule_};
    }
    void forget_sorted() {
        sorted_.clear();
        width_ = n_ = 0;
    }
    [[nodiscard]] std::size_t bytes() const { return values_.bytes(); }
    [[nodiscard]] std::size_t sorted_bytes() const { return sorted_.bytes(); }

  private:
    [[nodiscard]] std::size_t piece() const { return std::max<std::size_t>(capacity_ / 4, 1); }
    [[nodiscard]] std::size_t max() const { return capacity_ == 0 ? 0 : capacity_ + piece(); }
    // Merges sorted values into the sorted ones, and removes others.
    template <class Bits>
    void change(Buffer& come, Buffer& gone) {
        const auto values = sorted_.as<Bits>(), in = come.as<Bits>(), out = gone.as<Bits>();
        const auto order = [rule = rule_](std::span<Bits> of, std::size_t i) { return rule.order(bits_at(&of[i])); };
        Buffer all(rule_.width);
        all.resize(values.size() + in.size() - out.size());
        auto* to = all.as<Bits>().data();
        std::size_t from = 0, i = 0, o = 0;
        const auto keep_to = [&](std::size_t end) {
            to = std::copy(values.data() + from, values.data() + end, to);
            from = end;
        };
        while (i < in.size() || o < out.size()) {
            const bool goes = i == in.size() || (o < out.size() && order(out, o) <= order(in, i));
            const auto at = goes ? order(out, o++) : order(in, i);
            keep_to(gallop(from, values.size(),
                           [&](std::size_t k) { return order(values, k) < at || (!goes && order(values, k) == at); }));
            if (goes) {
                ++from;
            } else {
                *to++ = in[i++];
            }
        }
        keep_to(values.size());
        sorted_ = std::move(all);
    }

    const KeyRule& rule_;
    std::size_t capacity_;
    Buffer values_, sorted_;
    std::uint64_t width_ = 0, n_ = 0;  // of the sorted values
};

template <class Summary>
class SlidingState final : public WindowedState {
  public:
    // Messages begin with `name`.
    SlidingState(const KeyRule& rule, const std::string& name, const SlidingOptions& options,
                 std::unique_ptr<WindowSorter> sorter, SlidingPlan::Levels levels = SlidingPlan::Levels::FewIfPossible)
        : WindowedState(rule, SlidingPlan(checked(name, options), levels).intake_window(),
                        with_min(std::move(sorter), options)),
          name_(name),
          options_(options),
          plan_(options, levels),
          last_(rule, plan_.exact + plan_.exact / 8),
          blocks_(plan_),
          trees_(rule, plan_, intake.sorter()),
          sorts_(rule, plan_) {
        const auto more = trees_.max_bytes() + (plan_.is_exact() || plan_.sorted ? 0 : intake.max_bytes());
        check_bytes(name, options, plan_.max_bytes(rule.width) + static_cast<double>(more));
    }

    void take(const Windows& sorted) override {
        for (std::size_t i = 0; i < sorted.size(); ++i) trees_.add(sorted[i], blocks_, intake.share(), own_times);
    }
    std::uint64_t failed() override {
        answer_.reset();
        last_.forget_sorted();  // it compares by n()
        return blocks_.n() + trees_.n();
    }

    void add(const Values& values) override {
        if (plan_.is_exact()) {
            const auto nans = last_.add(values);
            intake.add_counted(values.size() - nans, nans);
            return;
        }
        if (plan_.sorted) return add_to_levels(values);
        last_.reserve(values.size());
        whether_or_not([&] { intake.add(values); },
                       [&, before = intake.taken()] {
                           last_.add(values.first(static_cast<std::size_t>(intake.taken() - before)));
                       });
    }

    static constexpr std::size_t merged = std::size_t{1} << 20U;  // so many ranks that there is one part
    // Calls use_values with the sorted last `width` values, or all values if there are fewer. If they are not kept,
    // calls `use` with their summaries, for a query of that many ranks.
    template <class UseValues, class Use>
    auto ask(std::uint64_t width, std::size_t ranks, UseValues use_values, Use use) {
        const std::lock_guard lock(mutex);
        return std::min(width, intake.n()) <= plan_.exact ? use_values(sorted(width))
                                                          : use(std::as_const(covered(width, ranks)));
    }
    Summary sum(std::uint64_t width) {
        return ask(
            width, merged, [](const auto& sorted) { return Summary::of(sorted, 0); },
            [](const auto& covered) { return *covered.parts.front(); });
    }
    [[nodiscard]] std::uint64_t width(std::optional<std::uint64_t> wanted) const {
        const auto width = wanted.value_or(options_.window);
        if (width < 1 || width > options_.window || (options_.widths == Widths::Fixed && width != options_.window)) {
            throw InvalidArgument(name_ + ": the width must be " +
                                  (options_.widths == Widths::Fixed ? "the whole window, " : "from 1 to the window, ") +
                                  std::to_string(options_.window) + ", not " + std::to_string(width));
        }
        return width;
    }
    [[nodiscard]] double eps() const override { return options_.eps; }
    [[nodiscard]] const SlidingOptions& options() const { return options_; }
    [[nodiscard]] std::size_t summary_bytes() override {
        settle();
        return blocks_.bytes() + last_.bytes() + sorts_.bytes() +
               static_cast<std::size_t>(trees_.n()) * intake.rule().width;
    }
    [[nodiscard]] std::size_t bytes() override {
        auto bytes = sizeof *this + blocks_.memory() + trees_.bytes() + last_.bytes() + sorts_.bytes() +
                     intake.bytes() + last_.sorted_bytes();
        for (const auto& part : rest_) bytes += part.memory() + sizeof part;
        if (answer_) bytes += answer_->parts.capacity() * sizeof answer_->parts[0];
        return bytes;
    }
    [[nodiscard]] StreamTimes times() override { return times_of(intake.sorter(), own_times, blocks_); }

    std::vector<std::byte> save() override {
        if (plan_.sorted) settle();
        const auto rest = settle_all();
        Writer to({kind, intake.rule().type});
        to.f64(options_.eps);
        to.u64(options_.window);
        to.u64((options_.widths == Widths::Variable ? variable : 0) |
               (options_.paper.raw == RawValues::Never ? never_raw : 0) |
               (options_.paper.blocks == SlidingBlocks::Sorted ? level_sorts : 0) | (plan_.few ? few_levels : 0));
        to.u64(n());
        to.u64(nans());
        to.values(last_.last(std::min(n(), plan_.exact)), intake.rule());
        if (plan_.is_exact()) return to.take();
        blocks_.write(to);
        plan_.sorted ? sorts_.write(to) : trees_.write(to, rest);
        return to.take();
    }
    static std::unique_ptr<SlidingState> load(const KeyRule& rule, const char* function,
                                              std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
        auto from = open(function, bytes, kind, rule.type);
        SlidingOptions options{.eps = read_eps(from, SlidingPlan::min_eps)};
        options.window = from.u64();
        const auto forms = from.u64();
        from.require(options.window >= 1 && options.window <= SlidingPlan::max_window && forms <= few_levels &&
                         (forms & (variable | level_sorts)) != (variable | level_sorts),
                     "the window");
        if ((forms & variable) != 0) options.widths = Widths::Variable;
        if ((forms & never_raw) != 0) options.paper.raw = RawValues::Never;
        if ((forms & level_sorts) != 0) options.paper.blocks = SlidingBlocks::Sorted;
        options.max_bytes = std::numeric_limits<std::uint64_t>::max();  // was checked when it was made
        const auto n = from.u64(), nans = from.u64();
        from.require(n <= max_values && nans <= max_values, "the number of values");
        using Levels = SlidingPlan::Levels;
        auto state = std::make_unique<SlidingState>(rule, function, options, std::move(sorter),
                                                    forms == few_levels ? Levels::FewIfPossible : Levels::All);
        const auto& plan = state->plan_;
        from.require(plan.few == (forms == few_levels), "the window");
        const auto last = from.values(plan.exact, rule);
        from.require(last.size() == std::min(n, plan.exact), "the last values");
        state->last_.add(last.values());
        Buffer rest(rule.width);
        if (!plan.is_exact()) {
            state->blocks_ = SlidingWindow<Summary>::read(from, plan);
            if (plan.sorted) {
                from.require(state->blocks_.n() <= n && n - state->blocks_.n() < plan.block, "the number of values");
                state->sorts_.read(from, n);
            } else {
                for (bool is_last = false; !is_last;) {
                    const auto part = read_sorted(from, plan.block - (plan.few ? 0 : 1), rule);
                    is_last = part.size() < plan.block;
                    from.require(part.size() <= n - std::min(n, state->blocks_.n() + rest.size()),
                                 "the number of values");
                    rest.append(part.values());
                }
                from.require(state->blocks_.n() + rest.size() == n && rest.size() < plan.max_rest(),
                             "the number of values");
            }
        }
        from.end();
        state->intake.add_counted(n - rest.size(), nans);
        state->intake.add(rest.values());
        return state;
    }

  private:
    static constexpr Kind kind =
        std::is_same_v<Summary, QuantileSummary> ? Kind::SlidingQuantiles : Kind::SlidingFrequencies;
    // The saved options, as bits of a number.
    static constexpr std::uint64_t variable = 1, never_raw = 2, level_sorts = 4, few_levels = 8;

    // Like Intake::settle_all(). Afterwards all complete blocks exist.
    Window settle_all() {
        const auto rest = intake.settle_all();
        flush();
        return rest;
    }
    void flush() {
        intake.counted([this] { trees_.flush(blocks_, intake.share(), own_times); });
    }
    static std::unique_ptr<WindowSorter> with_min(std::unique_ptr<WindowSorter> sorter, const SlidingOptions& options) {
        constexpr std::size_t worth_a_call = std::size_t{1} << 12U;
        const auto usual = options.paper.blocks == SlidingBlocks::Sorted ? worth_a_call : 0;
        const auto min = options.paper.sorter_min > 0 ? options.paper.sorter_min : usual;
        if (min == 0) return sorter;
        return std::make_unique<LeastSorter>(std::move(sorter), min);
    }
    // Takes many values at a time, so that sets of the same size are sorted together. If a sorter fails, the values
    // counted by n() and nans() were taken.
    void add_to_levels(Values values) {
        const auto max = plan_.added_at_once();
        settle();  // finishes what a failed sorter has left, before more values come
        Buffer numbers(intake.rule().width);
        for (; !values.empty(); values = values.from(std::min(values.size(), max))) {
            const auto part = values.first(std::min(values.size(), max));
            numbers.clear();
            append_numbers(numbers, part, intake.rule(), count_nans(part, intake.rule()));
            sorts_.take(numbers.values());
            intake.add_counted(numbers.size(), part.size() - numbers.size());
            settle();
        }
    }
    void settle() {
        if (plan_.is_exact()) return;
        if (plan_.sorted) return sorts_.summarize(intake.sorter(), blocks_, own_times);
        intake.settle();
        flush();
    }
    Window sorted(std::uint64_t width) {
        settle();
        const cpu::Stopwatch time;
        double sort_ms = 0;
        const auto all =
            last_.sorted(width, intake.n(), [&](Buffer& values) { timed(sort_ms, [&] { intake.sort(values); }); });
        own_times.merge += time.ms() - sort_ms;
        return all;
    }
    // The last `width` values, or all values if there are fewer. A few ranks are found in the parts themselves. For
    // more it is faster to merge the parts first.
    const Covered<Summary>& covered(std::uint64_t width, std::size_t ranks) {
        const auto now = std::pair(intake.n(), width);
        if (!answer_ || answered_ != now) {
            answer_.reset();
            rest_.clear();
            ranks_ = 0;
            if (plan_.sorted) {
                settle();
                rest_.push_back(sorts_.rest(intake.sorter(), own_times));
            } else {
                const auto values = settle_all();
                timed(own_times.sample, [&] { trees_.rest(values, rest_); });
            }
            answer_ = blocks_.last(std::min(width, intake.n()), intake.n(), rest_);
            answered_ = now;
        }
        constexpr std::size_t few = 32;
        ranks_ += ranks;
        if (auto& parts = answer_->parts; parts.size() != 1 && ranks_ > few) {
            auto sum = timed(own_times.merge, [&] { return sum_of<Summary>(parts); });
            rest_.clear();
            rest_.push_back(std::move(sum));
            parts = {rest_.data()};
        }
        return *answer_;
    }

    std::string name_;
    SlidingOptions options_;
    SlidingPlan plan_;
    Last last_;
    SlidingWindow<Summary> blocks_;
    BlockTrees<Summary> trees_;  // collects values for blocks
    LevelSorts<Summary> sorts_;
    std::optional<Covered<Summary>> answer_;
    std::vector<Summary> rest_;                         // some of its parts
    std::size_t ranks_ = 0;                             // that it was asked for
    std::pair<std::uint64_t, std::uint64_t> answered_;  // the n and the width for which answer_ was made
};

}  // namespace quadmill::detail::stream
