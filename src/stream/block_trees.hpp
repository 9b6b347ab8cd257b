// Many blocks of a sliding window together: one merge sort of their values gives a tree of blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "cpu/merge.hpp"
#include "stream/share.hpp"
#include "stream/sliding_window.hpp"

namespace quadmill::detail::stream {

// A tree has 2^height base blocks and all blocks that consist of them. Its values arrive as sorted base blocks and are
// merged level by level. Each level's blocks are samples of their own values, so merging summaries, which takes time on
// one thread and adds error, only begins above the tree. If an answer is requested before a tree is complete, its
// values are added as single blocks, and so are later values until the next tree can begin.
template <class Summary>
class BlockTrees {
  public:
    BlockTrees(const KeyRule& rule, const SlidingPlan& plan)
        : rule_(rule), of_order_(rule_of_order(rule)), plan_(plan), values_(rule.width), merged_(rule.width) {}

    // Takes the next base block of the stream, sorted.
    void add(const Window& sorted, SlidingWindow<Summary>& window, const Share& share, StreamTimes& times) {
        const auto blocks = window.n() / plan_.block;
        if (plan_.tree_height() == 0 || (values_.empty() && blocks % leaves() != 0))
            return add_single(sorted, window, times);
        values_.reserve(tree_values());
        const auto before = values_.size();
        values_.resize(before + sorted.size());
        with_width(rule_.width, [&, rule = rule_]<class Bits>(Bits /*width*/) {
            const auto* from = sorted.values().template as<Bits>();
            const auto to = values_.template as<Bits>().subspan(before);
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = rule.order(bits_at(from + i));
        });
        if (values_.size() < tree_values()) return;
        try {
            window.add(timed(times.merge, [&] { return grow(blocks, window, share); }));
        } catch (...) {
            values_.clear();  // without memory it is lost like a single block: half merged values are not a block
            throw;
        }
        values_.clear();
    }
    // Afterwards no values wait. A block for which there is no memory is lost, like a single block, but no other.
    void flush(SlidingWindow<Summary>& window, StreamTimes& times) {
        std::exception_ptr failure;
        for (std::size_t at = 0; at < values_.size(); at += block()) {
            try {
                add_single(Window(values_.values().subspan(at, block()), of_order_), window, times);
            } catch (...) {
                failure = std::current_exception();
            }
        }
        values_.clear();
        if (failure) std::rethrow_exception(failure);
    }
    // Number of waiting values.
    [[nodiscard]] std::uint64_t n() const { return values_.size(); }
    [[nodiscard]] std::size_t bytes() const { return values_.bytes() + merged_.bytes(); }

  private:
    [[nodiscard]] std::size_t block() const { return static_cast<std::size_t>(plan_.block); }
    [[nodiscard]] std::size_t leaves() const { return std::size_t{1} << plan_.tree_height(); }
    [[nodiscard]] std::size_t tree_values() const { return block() << plan_.tree_height(); }

    void add_single(const Window& sorted, SlidingWindow<Summary>& window, StreamTimes& times) {
        window.add(
            timed(times.sample, [&] { return Summary::of(sorted, window.chain().max_error(1, sorted.size())); }));
    }

    // The blocks of a level, and their positions in the stream.
    struct Level {
        std::size_t length;            // values per block
        std::uint64_t begin, needed;   // positions of the first block of all, and of the first needed one
        double error;                  // of a block, in values
        std::vector<Summary>& blocks;  // from the first needed one on
    };
    // Samples the sorted blocks that begin at these positions.
    void sample(const Level& level, const Values& values, std::size_t first, std::size_t last) const {
        for (auto b = (first + level.length - 1) / level.length; b * level.length < last; ++b) {
            if (level.begin + b < level.needed) continue;
            auto& block = level.blocks[static_cast<std::size_t>(level.begin + b - level.needed)];
            block = Summary::of(Window(values.subspan(b * level.length, level.length), of_order_), level.error);
            block.pack();
        }
    }
    // The rule of values that were replaced by their order, which is compared faster.
    static KeyRule rule_of_order(KeyRule rule) {
        rule.minus_zero = rule.order(rule.minus_zero);
        rule.if_negative = rule.if_positive = rule.minus = 0;
        return rule;
    }
    // Merges all pairs of sorted runs of that length between the two positions.
    static void merge_pairs(Buffer& from, Buffer& to, std::size_t length, std::size_t first, std::size_t last) {
        with_width(from.values().width(), [&]<class Bits>(Bits /*width*/) {
            merge_pairs(from.as<Bits>().data(), to.as<Bits>().data(), length, first, last);
        });
    }
    template <class Bits>
    static void merge_pairs(const Bits* from, Bits* to, std::size_t length, std::size_t first, std::size_t last) {
        const std::less<Bits> less;
        while (first < last) {
            const auto pair = first / (2 * length) * (2 * length), until = std::min(last, pair + 2 * length);
            const cpu::Run<Bits> a{from + pair, length}, b{from + pair + length, length};
            const auto a_first = cpu::merge_path(a, b, first - pair, less),
                       a_last = cpu::merge_path(a, b, until - pair, less);
            const auto b_first = first - pair - a_first, b_last = until - pair - a_last;
            cpu::merge_two(cpu::Run<Bits>{a.data + a_first, a_last - a_first},
                           cpu::Run<Bits>{b.data + b_first, b_last - b_first}, to + first, less);
            first = until;
        }
    }

    // The tree of all waiting values, after that many earlier base blocks. First each thread takes subtrees that fit
    // into its cache; then threads share each level.
    BlockTree<Summary> grow(std::uint64_t before, const SlidingWindow<Summary>& window, const Share& share) {
        constexpr std::size_t piece = std::size_t{1} << 14U;  // in values
        const auto after = before + leaves();
        const int height = plan_.tree_height();
        BlockTree<Summary> tree;
        tree.levels.resize(static_cast<std::size_t>(height) + 1);
        std::vector<Level> levels;
        for (int l = 0; l <= height; ++l) {
            const auto begin = before >> l, end = after >> l,
                       needed = std::clamp(plan_.first_needed(l, after), begin, end);
            auto& blocks = tree.levels[static_cast<std::size_t>(l)];
            blocks.resize(static_cast<std::size_t>(end - needed));
            levels.push_back({block() << l, begin, needed, window.new_block_error(l, after), blocks});
        }
        merged_.resize(values_.size());
        std::size_t by_one = 0;
        while (by_one + 1 < levels.size() && levels[by_one + 1].length <= piece) ++by_one;
        const auto subtree = levels[by_one].length;
        share(values_.size() / subtree, [&](std::size_t i) {
            const auto first = i * subtree, last = first + subtree;
            auto *from = &values_, *to = &merged_;
            for (std::size_t l = 0;; ++l, std::swap(from, to)) {
                sample(levels[l], from->values(), first, last);
                if (l == by_one) break;
                merge_pairs(*from, *to, levels[l].length, first, last);
            }
        });
        if (by_one % 2 != 0) values_.swap(merged_);
        for (auto l = by_one; l + 1 < levels.size(); ++l) {
            share((values_.size() + piece - 1) / piece, [&](std::size_t i) {
                const auto first = i * piece, last = std::min(first + piece, values_.size());
                if (l > by_one) sample(levels[l], values_.values(), first, last);
                merge_pairs(values_, merged_, levels[l].length, first, last);
            });
            values_.swap(merged_);
        }
        if (levels.size() > by_one + 1) sample(levels.back(), values_.values(), 0, values_.size());
        const double error = window.chain().max_error(levels.size(), values_.size());
        tree.root = Summary::of(Window(values_.values(), of_order_), error, share);
        return tree;
    }

    const KeyRule& rule_;
    KeyRule of_order_;
    SlidingPlan plan_;
    Buffer values_, merged_;  // by their order
};

}  // namespace quadmill::detail::stream
