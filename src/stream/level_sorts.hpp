// The levels of a sliding window as SIGMOD'05 section 5.3 has them: each sorts all values anew, in sets that suit its
// error, and makes its blocks of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/stopwatch.hpp"
#include "quadmill/window_sorter.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/quantile_summary.hpp"
#include "stream/sliding_window.hpp"

namespace quadmill::detail::stream {

// Leaves windows of fewer values than `least` to the CPU on the caller's thread.
class LeastSorter final : public WindowSorter {
  public:
    LeastSorter(std::unique_ptr<WindowSorter> sorter, std::size_t least) : sorter_(std::move(sorter)), least_(least) {}
    void begin(Keys keys, std::size_t window) override {
        const bool is_short = window < least_;
        by_sorter_.push_back(!is_short);
        try {
            if (!is_short) return sorter_->begin(keys, window);
            const cpu::Stopwatch time;
            sort_windows_on_cpu(keys, window, Order::Ascending, 1);
            sort_ms_ += time.ms();
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
    [[nodiscard]] std::size_t bytes() const override { return sorter_->bytes(); }
    [[nodiscard]] Times times() const override {
        auto times = sorter_->times();
        times.sort += sort_ms_;
        return times;
    }
    [[nodiscard]] std::string name() const override { return sorter_->name(); }

  private:
    std::unique_ptr<WindowSorter> sorter_;
    std::size_t least_;
    std::deque<bool> by_sorter_;  // of the batches under way
    double sort_ms_ = 0;
};

// The block of a level that is not complete yet, by the algorithm of section 5.2 or, of counts, 5.1. Pre: `n` values
// come, of which the counts and ranks may be off by max_error.
template <class Summary>
class UnfinishedBlock;

template <>
class UnfinishedBlock<QuantileSummary> {
  public:
    UnfinishedBlock(std::uint64_t n, double max_error, std::size_t window)
        : histogram_(ErrorPlan{max_error / static_cast<double>(n),
                               ErrorPlan::levels_for(n / window + (n % window > 0 ? 1 : 0))}) {}
    template <class T>
    void add(const Window<T>& sorted, StreamTimes& times) {
        const cpu::Stopwatch time;
        auto summary = QuantileSummary::of(sorted, histogram_.plan().max_error(1, sorted.size()));
        times.sample += time.ms();
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
    template <class T>
    void add(const Window<T>& sorted, StreamTimes& times) {
        const auto n = summary_.n() + sorted.size();
        summary_.add(
            sorted, eps_ * static_cast<double>(n), [](Key key) { return key; }, times);
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

// Cost: each value is sorted once a level. Memory: a set of each level, at most 4 (L + 1) / eps values, and its
// unfinished block.
template <class T, class Summary>
class LevelSorts {
  public:
    explicit LevelSorts(const SlidingPlan& plan) : plan_(plan) {
        if (!plan.sorted || plan.is_exact()) return;
        for (int l = 0; l <= plan.top; ++l) levels_.push_back(begun(l, 0));
    }

    // Pre: no NaNs. They are all taken, also where summarize() then throws.
    void take(std::span<const T> values) {
        for (auto& level : levels_) {
            const auto size = level.waiting.size() + values.size();
            if (size > level.waiting.capacity()) level.waiting.reserve(std::max(size, 2 * level.waiting.capacity()));
        }
        for (auto& level : levels_) level.waiting.insert(level.waiting.end(), values.begin(), values.end());
    }
    // Sorts all sets that are complete, and hands on blocks: longer ones first. Where it throws, what is left is done
    // the next time.
    void summarize(WindowSorter& sorter, SlidingWindow<Summary>& blocks, StreamTimes& times) {
        for (auto l = levels_.size(); l-- > 0;) {
            auto& level = levels_[l];
            while (true) {
                if (level.block.n() == plan_.length(static_cast<int>(l))) {
                    auto next = begun(static_cast<int>(l), level.index + 1);
                    blocks.add_formed(static_cast<int>(l), level.block.summary());
                    next.waiting = std::move(level.waiting);
                    level = std::move(next);
                }
                const auto size = next_set(l);
                if (size == 0) break;
                const auto end = level.waiting.begin() + static_cast<std::ptrdiff_t>(size);
                set_.assign(level.waiting.begin(), end);  // a copy: those that wait stay in order
                level.block.add(sort_set(sorter), times);
                level.waiting.erase(level.waiting.begin(), end);
            }
        }
    }
    // What came after the last block of the lowest level. Pre: summarize() was called last.
    [[nodiscard]] Summary rest(WindowSorter& sorter, StreamTimes& times) {
        auto& lowest = levels_.front();
        Summary rest = lowest.block.summary();
        if (lowest.waiting.empty()) return rest;
        set_ = lowest.waiting;
        const auto last = Summary::of(sort_set(sorter), 0);
        const cpu::Stopwatch time;
        rest = Summary::merged(rest, last);
        times.merge += time.ms();
        return rest;
    }
    [[nodiscard]] std::size_t bytes() const {
        std::size_t bytes = set_.capacity() * sizeof(T);
        for (const auto& level : levels_) bytes += level.waiting.capacity() * sizeof(T) + level.block.bytes();
        return bytes;
    }

    // What waits on a level is the end of what waits on the one where that is most.
    void write(Writer& to) const {
        std::span<const T> most;
        for (const auto& level : levels_) most = level.waiting.size() > most.size() ? std::span(level.waiting) : most;
        to.values(most);
        for (const auto& level : levels_) {
            to.u64(level.waiting.size());
            level.block.write(to);
        }
    }
    // Reads what was saved of a stream of n values.
    void read(Reader& from, std::uint64_t n) {
        std::size_t most = 0;
        for (std::size_t l = 0; l < levels_.size(); ++l) most = std::max(most, begun_at(l, n).window);
        const auto values = from.template values<T>(most);
        for (std::size_t l = 0; l < levels_.size(); ++l) {
            auto& level = levels_[l] = begun_at(l, n);
            const auto waiting = from.u64();
            from.require(waiting <= values.size() && waiting < level.window, "the values of an unfinished block");
            const auto last = std::span(values).last(static_cast<std::size_t>(waiting));
            level.waiting.assign(last.begin(), last.end());
            level.block.read(from);
            from.require(level.block.n() + waiting == n % plan_.length(static_cast<int>(l)) &&
                             level.block.n() % level.window == 0,
                         "the values of an unfinished block");
        }
    }

  private:
    struct Level {
        std::uint64_t index;  // of the block
        std::size_t window;   // values that are sorted at once
        UnfinishedBlock<Summary> block;
        std::vector<T> waiting;  // for a set to be complete
    };
    [[nodiscard]] Level begun(int l, std::uint64_t index) const {
        const auto length = plan_.length(l);
        // Whoever uses it looks at no fewer values than there are when it is complete.
        const double error = plan_.block_error(l, (index + 1) * length);
        const auto window = static_cast<std::size_t>(
            std::ceil(std::min(static_cast<double>(length) / error, static_cast<double>(length))));
        return {index, window, UnfinishedBlock<Summary>(length, error, window), {}};
    }
    [[nodiscard]] Level begun_at(std::size_t l, std::uint64_t n) const {
        return begun(static_cast<int>(l), n / plan_.length(static_cast<int>(l)));
    }
    // Values of the next set of a level; 0 where it is not complete. A block ends a set.
    [[nodiscard]] std::size_t next_set(std::size_t l) const {
        const auto& level = levels_[l];
        const auto left = plan_.length(static_cast<int>(l)) - level.block.n();
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(level.window, left));
        return level.waiting.size() >= size ? size : 0;
    }
    Window<T> sort_set(WindowSorter& sorter) {
        sorter.begin(std::span(set_), set_.size());
        sorter.finish();
        return Window<T>(set_.data(), set_.size());
    }

    SlidingPlan plan_;
    std::vector<Level> levels_;
    std::vector<T> set_;
};

}  // namespace quadmill::detail::stream
