// The levels of a sliding window as in SIGMOD'05, section 5.3: each level sorts all values itself, in sets that fit its
// error, and makes its blocks from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/quantile_summary.hpp"
#include "stream/sliding_window.hpp"

namespace quadmill::detail::stream {

// Sorts windows of fewer than `min` values on the CPU, on the caller's thread.
class LeastSorter final : public WindowSorter {
  public:
    LeastSorter(std::unique_ptr<WindowSorter> sorter, std::size_t min) : sorter_(std::move(sorter)), min_(min) {}
    void begin(Keys keys, std::size_t window) override {
        const bool is_short = window < min_;
        by_sorter_.push_back(!is_short);
        try {
            if (!is_short) return sorter_->begin(keys, window);
            timed(sort_ms_, [&] { sort_windows_on_cpu(keys, window, Order::Ascending, 1); });
        } catch (...) {
            by_sorter_.pop_back();
            throw;
        }
    }
    void finish() override {
        const bool by_sorter = by_sorter_.front();
        by_sorter_.pop_front();
        if (by_sorter) sorter_->finish();
    }
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override {
        sorter_->share(count, work);
    }
    [[nodiscard]] std::size_t depth() const override { return sorter_->depth(); }
    [[nodiscard]] std::size_t batch_bytes() const override { return sorter_->batch_bytes(); }
    [[nodiscard]] std::size_t batch_windows() const override { return sorter_->batch_windows(); }
    [[nodiscard]] std::size_t window(double eps) const override { return sorter_->window(eps); }
    [[nodiscard]] std::size_t bytes() const override {
        return sizeof *this + cpu::memory_of(by_sorter_) + sorter_->bytes();
    }
    [[nodiscard]] Times times() const override {
        auto times = sorter_->times();
        times.sort += sort_ms_;
        return times;
    }
    [[nodiscard]] std::string name() const override { return sorter_->name(); }

  private:
    std::unique_ptr<WindowSorter> sorter_;
    std::size_t min_;
    std::deque<bool> by_sorter_;  // for each batch in flight
    double sort_ms_ = 0;
};

// The incomplete block of a level, made by the algorithm of section 5.2 or, for counts, 5.1. Pre: the block will have
// `n` values; counts and ranks may be off by max_error.
template <class Summary>
class UnfinishedBlock;

template <>
class UnfinishedBlock<QuantileSummary> {
  public:
    UnfinishedBlock(std::uint64_t n, double max_error, std::size_t window)
        : histogram_(ErrorPlan{max_error / static_cast<double>(n),
                               ErrorPlan::levels_for(n / window + (n % window > 0 ? 1 : 0))}) {}
    void add(const Window& sorted, StreamTimes& times) {
        const auto error = histogram_.plan().max_error(1, sorted.size());
        auto summary = timed(times.sample, [&] { return QuantileSummary::of(sorted, error); });
        const auto merged = histogram_.merge_ms(), compressed = histogram_.compress_ms();
        histogram_.add(std::move(summary));
        times.merge += histogram_.merge_ms() - merged;
        times.compress += histogram_.compress_ms() - compressed;
    }
    [[nodiscard]] QuantileSummary summary() const { return histogram_.all(); }
    [[nodiscard]] std::uint64_t n() const { return histogram_.n(); }
    [[nodiscard]] std::size_t bytes() const { return histogram_.memory(); }
    void write(Writer& to) const { histogram_.write(to); }
    void read(Reader& from) { histogram_ = ExponentialHistogram<QuantileSummary>::read(from, histogram_.plan()); }

  private:
    ExponentialHistogram<QuantileSummary> histogram_;
};

template <>
class UnfinishedBlock<FrequencySummary> {
  public:
    UnfinishedBlock(std::uint64_t n, double max_error, std::size_t /*window*/)
        : eps_(max_error / static_cast<double>(n)) {}
    void add(const Window& sorted, StreamTimes& times) {
        const auto n = summary_.n() + sorted.size();
        summary_ = summary_.with(sorted, eps_ * static_cast<double>(n), {}, times);
    }
    [[nodiscard]] const FrequencySummary& summary() const { return summary_; }
    [[nodiscard]] std::uint64_t n() const { return summary_.n(); }
    [[nodiscard]] std::size_t bytes() const { return summary_.memory(); }
    void write(Writer& to) const { summary_.write(to); }
    void read(Reader& from) {
        summary_ = FrequencySummary::read(from);
        from.require(static_cast<double>(summary_.max_error()) <= eps_ * static_cast<double>(summary_.n()),
                     "the error of an unfinished block");
    }

  private:
    double eps_;
    FrequencySummary summary_;
};

// Cost: each value is sorted once per level. Memory: waiting values, at most the longest set and the values added last;
// copies of up to four sets; and the incomplete block of each level.
template <class Summary>
class LevelSorts {
  public:
    // Sets of the same length that are sorted together, one in each channel of a texture, as in the paper.
    static constexpr std::size_t sets_at_once = 4;

    LevelSorts(const KeyRule& rule, const SlidingPlan& plan)
        : rule_(rule), plan_(plan), waiting_(rule.width), sets_(rule.width) {
        if (!plan.sorted || plan.is_exact()) return;
        for (int l = 0; l <= plan.top; ++l) levels_.push_back(begun(l, 0));
    }

    // Pre: no NaNs. All values are taken, even if summarize() then throws.
    void take(const Values& values) {
        waiting_.append(values);
        for (auto& level : levels_) level.waiting += values.size();
    }
    // Sorts all complete sets and passes blocks on, longer ones first. If it throws, the next call continues.
    void summarize(WindowSorter& sorter, SlidingWindow<Summary>& blocks, StreamTimes& times) {
        for (auto at = levels_.rbegin(); at != levels_.rend(); ++at) {
            auto& level = *at;
            while (true) {
                end_block(level, blocks);
                const auto [size, count] = next_sets(level);
                if (count == 0) break;
                sort_sets(level.waiting, size, count, sorter);
                for (std::size_t i = 0; i < count; ++i) {
                    end_block(level, blocks);
                    level.block.add(Window(sets_.values().subspan(i * size, size), rule_), times);
                    level.waiting -= size;
                }
            }
        }
        forget();
    }
    // The values after the last block of the lowest level. Pre: summarize() was called last.
    [[nodiscard]] Summary rest(WindowSorter& sorter, StreamTimes& times) {
        auto& lowest = levels_.front();
        Summary rest = lowest.block.summary();
        if (lowest.waiting == 0) return rest;
        sort_sets(lowest.waiting, lowest.waiting, 1, sorter);
        const auto last = Summary::of(Window(sets_.values(), rule_), 0);
        return timed(times.merge, [&] { return Summary::merged(rest, last, {}); });
    }
    [[nodiscard]] std::size_t bytes() const {
        auto bytes = sets_.bytes() + waiting_.bytes() + levels_.capacity() * sizeof(Level);
        for (const auto& level : levels_) bytes += level.block.bytes();
        return bytes;
    }

    void write(Writer& to) const {
        to.values(waiting_.values().last(longest_wait()), rule_);
        for (const auto& level : levels_) {
            to.u64(level.waiting);
            level.block.write(to);
        }
    }
    // Loads a saved state after n values.
    void read(Reader& from, std::uint64_t n) {
        std::size_t max = 0;
        for (auto& level : levels_) {
            level = begun(level.level, n / level.length);
            max = std::max(max, level.window);
        }
        waiting_ = from.values(max, rule_);
        for (auto& level : levels_) {
            const auto waiting = from.u64();
            from.require(waiting <= waiting_.size() && waiting < level.window, "the values of an unfinished block");
            level.waiting = static_cast<std::size_t>(waiting);
            level.block.read(from);
            from.require(level.block.n() + waiting == n % level.length && level.block.n() % level.window == 0,
                         "the values of an unfinished block");
        }
    }

  private:
    struct Level {
        int level;
        std::uint64_t length, index;  // of the block
        std::size_t window;           // values per set
        UnfinishedBlock<Summary> block;
        std::size_t waiting;  // number of the latest values that a complete set needs
    };
    struct Sets {
        std::size_t size, count;
    };
    // Values per set in that block. A window that uses the block has at least as many values as the stream when the
    // block is complete.
    [[nodiscard]] std::size_t set_size(int l, std::uint64_t index) const {
        const auto length = static_cast<double>(plan_.length(l));
        const double error = plan_.block_error(l, (index + 1) * plan_.length(l));
        return static_cast<std::size_t>(std::ceil(std::min(length / error, length)));
    }
    [[nodiscard]] Level begun(int l, std::uint64_t index) const {
        const auto length = plan_.length(l);
        const auto window = set_size(l, index);
        UnfinishedBlock<Summary> block(length, plan_.block_error(l, (index + 1) * length), window);
        return {l, length, index, window, std::move(block), 0};
    }
    // The next complete sets of a level that have the same size. A set ends where its block ends.
    [[nodiscard]] Sets next_sets(const Level& level) const {
        auto index = level.index, done = level.block.n();
        auto window = level.window;
        Sets sets{0, 0};
        while (sets.count < sets_at_once) {
            if (done == level.length) {
                window = set_size(level.level, ++index);
                done = 0;
            }
            const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(window, level.length - done));
            if (sets.count == 0) sets.size = size;
            if (size != sets.size || (sets.count + 1) * size > level.waiting) break;
            ++sets.count;
            done += size;
        }
        return sets;
    }
    void end_block(Level& level, SlidingWindow<Summary>& blocks) {
        if (level.block.n() < level.length) return;
        auto next = begun(level.level, level.index + 1);
        next.waiting = level.waiting;
        blocks.add_formed(level.level, level.block.summary());
        level = std::move(next);
    }
    [[nodiscard]] std::size_t longest_wait() const {
        std::size_t max = 0;
        for (const auto& level : levels_) max = std::max(max, level.waiting);
        return max;
    }
    // Sorts copies, because waiting values keep their order.
    void sort_sets(std::size_t waiting, std::size_t size, std::size_t count, WindowSorter& sorter) {
        sets_.clear();
        sets_.reserve(size * count);
        sets_.append(waiting_.values().last(waiting).first(size * count));
        sorter.begin(rule_.keys(sets_.data(), sets_.size()), size);
        sorter.finish();
    }
    // Drops values that no level needs any more, if they are more than half of all.
    void forget() {
        const auto max = longest_wait();
        if (waiting_.size() / 2 < max) return;
        waiting_.erase_first(waiting_.size() - max);
    }

    const KeyRule& rule_;
    SlidingPlan plan_;
    std::vector<Level> levels_;
    Buffer waiting_, sets_;
};

}  // namespace quadmill::detail::stream
