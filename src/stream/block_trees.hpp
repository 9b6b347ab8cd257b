// Blocks of a sliding window, many at once: a tree of them from one merge sort of their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/merge.hpp"
#include "stream/share.hpp"
#include "stream/sliding_window.hpp"

namespace quadmill::detail::stream {

// A tree is 2^height base blocks and all blocks that they make up. Its values, sorted in base blocks when they come, are
// merged a level at a time, and each level's blocks are samples of their own values: what merging summaries costs, on one
// thread, and what it adds to their errors only comes above. What is no whole tree when an answer is asked for goes the
// way of single blocks, as does what comes until the next tree can begin.
template <class T, class Summary>
class BlockTrees {
  public:
    explicit BlockTrees(const SlidingPlan& plan) : plan_(plan) {}

    // Takes the next base block of the stream, sorted.
    void add(const Window<T>& sorted, SlidingWindow<Summary>& window, const Share& share, StreamTimes& times) {
        const auto blocks = window.n() / plan_.block;
        if (plan_.tree_height() == 0 || (values_.empty() && blocks % leaves() != 0))
            return add_single(sorted, window, times);
        values_.reserve(tree_values());
        values_.insert(values_.end(), sorted.values().begin(), sorted.values().end());
        if (values_.size() < tree_values()) return;
        const cpu::Stopwatch time;
        auto tree = grow(blocks, window, share);
        times.merge += time.ms();
        window.add(std::move(tree));
        values_.clear();
    }
    // Nothing waits then.
    void flush(SlidingWindow<Summary>& window, StreamTimes& times) {
        for (std::size_t at = 0; at < values_.size(); at += block())
            add_single(Window<T>(values_.data() + at, block()), window, times);
        values_.clear();
    }
    [[nodiscard]] std::size_t bytes() const { return (values_.capacity() + merged_.capacity()) * sizeof(T); }

  private:
    using Less = cpu::KeyLess<T>;
    [[nodiscard]] std::size_t block() const { return static_cast<std::size_t>(plan_.block); }
    [[nodiscard]] std::size_t leaves() const { return std::size_t{1} << plan_.tree_height(); }
    [[nodiscard]] std::size_t tree_values() const { return block() << plan_.tree_height(); }

    void add_single(const Window<T>& sorted, SlidingWindow<Summary>& window, StreamTimes& times) {
        const cpu::Stopwatch time;
        auto summary = Summary::of(sorted, window.chain().max_error(1, sorted.size()));
        times.sample += time.ms();
        window.add(std::move(summary));
    }

    // The tree of all values that wait, so many base blocks having come before. Threads share each level: its samples,
    // and merging it into the next.
    BlockTree<Summary> grow(std::uint64_t before, const SlidingWindow<Summary>& window, const Share& share) {
        constexpr std::size_t piece = std::size_t{1} << 14U;  // of the values
        const auto after = before + leaves();
        const int height = plan_.tree_height();
        merged_.resize(values_.size());
        BlockTree<Summary> tree;
        for (int level = 0;; ++level) {
            const auto length = block() << level;
            const auto begin = before >> level, end = after >> level,
                       needed = std::clamp(plan_.first_needed(level, after), begin, end);
            const double error = window.new_block_error(level, after);
            auto& blocks = tree.levels.emplace_back(static_cast<std::size_t>(end - needed));
            share((values_.size() + piece - 1) / piece, [&](std::size_t i) {
                const auto first = i * piece, last = std::min(first + piece, values_.size());
                for (auto b = (first + length - 1) / length; b * length < last; ++b) {
                    if (begin + b < needed) continue;
                    auto& made = blocks[static_cast<std::size_t>(begin + b - needed)];
                    made = Summary::of(Window<T>(&values_[b * length], length), error);
                    if constexpr (requires { made.pack(); }) made.pack();
                }
                if (level < height) merge_pairs(first, last, length);
            });
            if (level == height) break;
            std::swap(values_, merged_);
        }
        const double error = window.chain().max_error(static_cast<std::size_t>(height) + 1, values_.size());
        tree.root = Summary::of(Window<T>(values_.data(), values_.size()), error, share);
        return tree;
    }
    // From that place to that of what merging all pairs of sorted runs of that length makes.
    void merge_pairs(std::size_t first, std::size_t last, std::size_t length) {
        const Less less{cpu::TotalOrder<T>(Order::Ascending)};
        while (first < last) {
            const auto pair = first / (2 * length) * (2 * length), until = std::min(last, pair + 2 * length);
            const cpu::Run<T> a{&values_[pair], length}, b{&values_[pair + length], length};
            const auto a_first = cpu::merge_path(a, b, first - pair, less),
                       a_last = cpu::merge_path(a, b, until - pair, less);
            const auto b_first = first - pair - a_first, b_last = until - pair - a_last;
            cpu::merge_two(cpu::Run<T>{a.data + a_first, a_last - a_first},
                           cpu::Run<T>{b.data + b_first, b_last - b_first}, &merged_[first], less);
            first = until;
        }
    }

    SlidingPlan plan_;
    std::vector<T> values_, merged_;
};

}  // namespace quadmill::detail::stream
