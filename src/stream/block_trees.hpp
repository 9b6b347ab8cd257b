// Many blocks of a sliding window together: one merge sort of their values gives a tree of blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/merge.hpp"
#include "cpu/numbers.hpp"
#include "stream/intake.hpp"
#include "stream/parts.hpp"
#include "stream/share.hpp"
#include "stream/sliding_window.hpp"

namespace quadmill::detail::stream {

// A tree has 2^height base blocks and all blocks that consist of them. Its values arrive as sorted base blocks. Blocks
// of the next level are sorted again, or merged from two. Each level's blocks are samples of their own values, so
// merging summaries, which takes time on one thread and adds error, only begins above the tree. If few levels have
// blocks, nothing is above it, and incomplete trees wait. Otherwise, if an answer is requested before a tree is
// complete, its values are added as single blocks, and so are later values until the next tree can begin.
template <class Summary>
class BlockTrees {
  public:
    // Makes as many trees at the same time as fill a batch of the sorter, or the window.
    BlockTrees(const KeyRule& rule, const SlidingPlan& plan, const WindowSorter& sorter)
        : rule_(rule),
          of_order_(rule_of_order(rule)),
          plan_(plan),
          at_once_(std::clamp<std::size_t>(
              plan.window / tree_values(), 1,
              std::max({sorter.batch_bytes() / rule.width / tree_values(), sorter.batch_windows(), std::size_t{1}}))),
          values_(rule.width),
          merged_(rule.width) {}

    // Takes the next base block of the stream, sorted.
    void add(const Window& sorted, SlidingWindow<Summary>& window, const Share& share, StreamTimes& times) {
        if (plan_.tree_height() == 0 || (values_.empty() && window.n() / plan_.block % leaves() != 0))
            return add_single(sorted, window, times);
        values_.reserve(at_once_ * tree_values());
        values_.resize(values_.size() + sorted.size());
        with_width(rule_.width, [&, rule = rule_]<class Bits>(Bits /*width*/) {
            const auto to = values_.as<Bits>().last(sorted.size());
            const auto* from = sorted.values().as<Bits>();
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = rule.order(bits_at(from + i));
        });
        if (values_.size() == at_once_ * tree_values()) grow(window, share, times);
    }
    // Afterwards no values wait, or less than a tree's if few levels have blocks. A block for which there is no memory
    // is lost, like a single block, but no other.
    void flush(SlidingWindow<Summary>& window, const Share& share, StreamTimes& times) {
        std::exception_ptr failure;
        const auto keep = [&](const auto& work) {
            try {
                work();
            } catch (...) {
                failure = std::current_exception();
            }
        };
        keep([&] { grow(window, share, times); });
        for (std::size_t at = 0; !plan_.few && at < values_.size(); at += block())
            keep([&] { add_single(waiting(at), window, times); });
        if (!plan_.few) values_.clear();
        if (failure) std::rethrow_exception(failure);
    }
    // Summarizes the waiting values and the values after them. Pre: flush() was called last.
    void rest(const Window& sorted, std::vector<Summary>& to) const {
        to.push_back(Summary::of(sorted, plan_.rest_error(sorted.size())));
        for (std::size_t at = 0; at < values_.size(); at += block())
            to.push_back(Summary::of(waiting(at), plan_.rest_error(block())));
    }
    // Writes the waiting blocks and the values after them. Pre: flush() was called last.
    void write(Writer& to, const Window& sorted) const {
        for (std::size_t at = 0; at < values_.size(); at += block()) write_sorted(to, waiting(at));
        write_sorted(to, sorted);
    }
    [[nodiscard]] std::uint64_t n() const { return values_.size(); }  // waiting values
    [[nodiscard]] std::size_t bytes() const { return values_.bytes() + merged_.bytes(); }
    [[nodiscard]] std::size_t max_bytes() const {
        if (plan_.tree_height() == 0 || plan_.is_exact()) return 0;
        return cpu::held_bytes(at_once_ * tree_values() * rule_.width) * (step_ == 1 ? 2 : 1);
    }

  private:
    [[nodiscard]] std::size_t block() const { return static_cast<std::size_t>(plan_.block); }
    [[nodiscard]] Window waiting(std::size_t at) const { return {values_.values().subspan(at, block()), of_order_}; }
    [[nodiscard]] std::size_t leaves() const { return std::size_t{1} << plan_.tree_height(); }
    [[nodiscard]] std::size_t tree_values() const { return block() << plan_.tree_height(); }

    void add_single(const Window& sorted, SlidingWindow<Summary>& window, StreamTimes& times) {
        window.add(
            timed(times.sample, [&] { return Summary::of(sorted, window.chain().max_error(1, sorted.size())); }));
    }
    // The rule of values that were replaced by their order, which is compared faster.
    static KeyRule rule_of_order(KeyRule rule) {
        rule.minus_zero = rule.order(rule.minus_zero);
        rule.if_negative = rule.if_positive = rule.minus = 0;
        return rule;
    }
    // Makes trees of the waiting values. Each thread makes whole trees. Without memory their values are lost like a
    // single block: half merged values are not a block.
    void grow(SlidingWindow<Summary>& window, const Share& share, StreamTimes& times) {
        const auto trees = values_.size() / tree_values();
        if (trees == 0) return;
        const auto make = [&] {
            std::vector<BlockTree<Summary>> made(trees);
            if (step_ == 1) merged_.resize(values_.size());
            timed(times.merge, [&] { share(trees, [&](std::size_t i) { made[i] = tree(i, window); }); });
            for (auto& tree : made) window.add(std::move(tree));
        };
        whether_or_not(make, [&] { values_.erase_first(trees * tree_values()); });
    }
    BlockTree<Summary> tree(std::size_t i, const SlidingWindow<Summary>& window) {
        const auto before = window.n() / plan_.block + i * leaves(), after = before + leaves();
        const auto first = i * tree_values();
        const int height = plan_.tree_height();
        BlockTree<Summary> tree;
        tree.levels.resize(static_cast<std::size_t>(height) + 1);
        auto *from = &values_, *to = &merged_;
        for (int l = 0;; l += step_) {
            const auto length = block() << l;
            auto& blocks = tree.levels[static_cast<std::size_t>(l)];
            for (auto at = first; at < first + tree_values(); at += length) {
                blocks.emplace_back();
                if ((before >> l) + blocks.size() <= plan_.first_needed(l, after)) continue;
                const Window values(from->values().subspan(at, length), of_order_);
                blocks.back() = Summary::of(values, plan_.age_error(l, after * plan_.block));
                blocks.back().pack();
            }
            if (l == height) break;
            if (step_ == 1) {
                merge_pairs(*from, *to, length, first, first + tree_values());
                std::swap(from, to);
            } else if constexpr (!for_size) {
                with_width(rule_.width, [&, next = length << step_]<class Bits>(Bits /*width*/) {
                    for (auto at = first; at < first + tree_values(); at += next)
                        cpu::sort_numbers(values_.as<Bits>().subspan(at, next));
                });
            }
        }
        if (plan_.few) return tree;
        const auto error = window.chain().max_error(tree.levels.size(), tree_values());
        tree.root = Summary::of(Window(from->values().subspan(first, tree_values()), of_order_), error);
        return tree;
    }
    // Sorting is faster than merging runs of many levels two at a time, if it uses vector instructions.
    static int step_of(const SlidingPlan& plan) {
        if constexpr (!for_size)
            return plan.few && std::string_view(cpu::number_sort_name()) == "vqsort" ? plan.stride : 1;
        return 1;
    }
    // Merges all pairs of sorted runs of that length between the two positions.
    static void merge_pairs(Buffer& from, Buffer& to, std::size_t length, std::size_t first, std::size_t last) {
        with_width(from.values().width(), [&]<class Bits>(Bits /*width*/) {
            for (; first < last; first += 2 * length) {
                const auto* a = from.as<Bits>().data() + first;
                cpu::merge_two(cpu::Run<Bits>{a, length}, cpu::Run<Bits>{a + length, length},
                               to.as<Bits>().data() + first, std::less<Bits>());
            }
        });
    }

    const KeyRule& rule_;
    KeyRule of_order_;  // of waiting values: by their order if they are merged
    SlidingPlan plan_;
    std::size_t at_once_;
    int step_ = step_of(plan_);  // in levels
    Buffer values_, merged_;     // by their order
};

}  // namespace quadmill::detail::stream
