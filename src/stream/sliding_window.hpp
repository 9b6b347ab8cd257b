// The last values of a stream as summaries of blocks whose lengths double from level to level (SIGMOD'05 section 5.3).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/exponential_histogram.hpp"

namespace quadmill::detail::stream {

[[nodiscard]] inline int log2_floor(std::uint64_t value) {
    return static_cast<int>(std::bit_width(value)) - 1;
}

// Blocks of level l are 2^l base blocks long and begin at multiples of that length. A window consists of at most two
// blocks of each of L + 1 levels, so each block may be off by eps W / (4 (L + 1)) values: the paper's eps_l times the
// length of the block. At its old end a window may lack a part of a block of the lowest kept level, which is a quarter
// of eps W. Its new end comes from the chain of merges, and from the values of an incomplete base block, which are
// exact.
//
// Few levels (`few`) suffice for windows of fixed width, unless they are very long. Only every stride-th level up to
// `top` has blocks, each sorted by itself. A window has whole blocks of the level `top`, which may be off by eps / 2 of
// their values, and the end of one more block, in blocks of lower levels, which may be off by eps W / 4 together.
struct SlidingPlan {
    static constexpr double min_eps = 1e-6;
    static constexpr std::uint64_t max_window = std::uint64_t{1} << 40U;
    enum class Levels { All, FewIfPossible };
    explicit SlidingPlan(const SlidingOptions& options, Levels wanted = Levels::FewIfPossible)
        : eps(options.eps),
          window(options.window),
          fixed(options.widths == Widths::Fixed),
          sorted(options.paper.blocks == SlidingBlocks::Sorted) {
        constexpr std::uint64_t min_block = 32;
        exact = static_cast<std::uint64_t>(std::ceil(4 * min_block / eps));
        levels = static_cast<int>(std::ceil(std::log2(4 / eps)));
        block = min_block;
        if (fixed) split(std::max<std::uint64_t>(static_cast<std::uint64_t>(eps * static_cast<double>(window) / 4), 1));
        top = log2_floor(std::max<std::uint64_t>(window / block, 1));
        // Blocks, and summaries that are being merged, take as much memory as this many values.
        const double entries = 4 * (levels + 1.0) * (levels + 1.0) / eps;
        const bool never = options.paper.raw == RawValues::Never;
        if (!never && static_cast<double>(window) <= entries) {
            exact = window;
        } else if (fixed) {
            exact = never || window > exact ? 0 : window;
        } else {
            exact = std::min(exact, window);
        }
        if (fixed && !sorted && !never && !is_exact() && wanted == Levels::FewIfPossible) choose_few();
    }
    // The max memory in bytes, for values of that many bytes, without that of the intake and of trees.
    [[nodiscard]] double max_bytes(std::size_t value_bytes) const {
        constexpr double entry_bytes = 24;
        const double bytes = static_cast<double>(value_bytes), all = levels + 1.0, w = static_cast<double>(window);
        if (is_exact()) return w * (3 * bytes + entry_bytes);  // the last values, and as many for an answer
        // New blocks are made before old ones are dropped.
        const double blocks = few ? w / static_cast<double>(length(top)) * 2 / eps +
                                        lower() * (w / std::max(own_error(0), 1.0) + 32 / eps)
                              : fixed ? 2 * std::min(6 * all * all / eps, (all + 2) * w)
                                      : 12 * all * std::log(8 / eps) * std::log2(w * eps) / eps;
        if (sorted) {
            const double waiting = 2 * std::min(4 * all / eps, w) + static_cast<double>(added_at_once());
            return blocks * entry_bytes + waiting * (2 * bytes + entry_bytes);
        }
        return blocks * entry_bytes + 4 * static_cast<double>(exact) * bytes;
    }
    // Values that levels with their own sorts take together: several of the longest sets, but no more than a window,
    // whose blocks are all made before older ones are dropped.
    [[nodiscard]] std::size_t added_at_once() const {
        const double some = std::clamp(16 * (levels + 1) / eps, 0x1p16, 0x1p22);
        return static_cast<std::size_t>(std::min(some, static_cast<double>(window)));
    }
    // True if only the values themselves are kept.
    [[nodiscard]] bool is_exact() const { return exact == window; }
    // The paper's eps_l: the fraction of its values that a block of level l, 2^l grains long, may be off. Multiplied by
    // the length it is the same for all levels.
    [[nodiscard]] double level_error(int l) const { return eps / (2 * (2 * levels + 2)) * std::ldexp(1, levels - l); }
    // The error, in values, of a block that a level with its own sorts completes at that position of the stream. (L and
    // the grain are rounded, so that eps_l alone might be too large.)
    [[nodiscard]] double block_error(int level, std::uint64_t end) const {
        return std::min(level_error(level) * static_cast<double>(length(level)), max_error(static_cast<double>(end)));
    }
    // Number of values in a block.
    [[nodiscard]] std::uint64_t length(int level) const { return block << static_cast<unsigned>(level); }
    // A bound of the number of values after the last block.
    [[nodiscard]] std::uint64_t max_rest() const { return few ? length(top) : block; }
    // Values in a window of the intake.
    [[nodiscard]] std::size_t intake_window() const { return sorted ? 1 : static_cast<std::size_t>(block); }
    // The height of trees of blocks (block_trees.hpp): large enough that a sample of the highest block is small
    // compared with its values. 0: no trees, because they would be too large for the window.
    [[nodiscard]] int tree_height() const {
        constexpr std::uint64_t enough = std::uint64_t{1} << 17U;
        const int height = block < enough ? log2_floor((enough + block - 1) / block - 1) + 1 : 0;
        return sorted ? 0 : few ? top : std::min(height, top);
    }
    // In values, for a block that is only used by windows of at least that width.
    [[nodiscard]] double max_error(double width) const {
        return eps * std::min(static_cast<double>(window), width) / (4 * (levels + 1));
    }
    // The error of that many values after the last block.
    [[nodiscard]] double rest_error(std::uint64_t values) const {
        return few ? eps * static_cast<double>(values) / 2 : 0;
    }
    [[nodiscard]] int lower() const { return top / stride; }  // levels with blocks below `top`, if there are few
    // In values, for a block of one of the few levels.
    [[nodiscard]] double own_error(int level) const {
        if (level == top) return rest_error(length(top));
        const int blocks = lower() * ((1 << stride) - 1);  // at the old end of a window
        return std::min(eps * static_cast<double>(window) / 4 / blocks, static_cast<double>(length(level)));
    }
    // In values, for a block of that age after n values. The newest block of its level has age 1.
    [[nodiscard]] double age_error(int level, std::uint64_t n, std::uint64_t age = 1) const {
        return few ? own_error(level) : max_error(static_cast<double>(fixed ? n : length(level) * std::bit_floor(age)));
    }
    [[nodiscard]] bool has_blocks(int level) const { return level >= lowest && level % stride == 0; }
    // The error plan of the chain that makes blocks. Its errors are as small as the smallest block error.
    [[nodiscard]] ErrorPlan chain() const { return {eps / (4 * (levels + 1)), static_cast<std::uint64_t>(top) + 1}; }
    // The level of the blocks that a window of that width begins with. Their length is at most a quarter of eps W.
    [[nodiscard]] int first_level(std::uint64_t width) const {
        if (fixed) return lowest;
        const double blocks = eps * static_cast<double>(width) / (4 * static_cast<double>(block));
        return std::min(log2_floor(static_cast<std::uint64_t>(std::max(blocks, 1.0))), top);
    }
    // The first block of a level that a window can still use after that many base blocks.
    [[nodiscard]] std::uint64_t first_needed(int level, std::uint64_t blocks) const {
        const double length = std::ldexp(1, level);
        if (!has_blocks(level)) return blocks >> static_cast<unsigned>(level);  // no block is needed
        double reach = static_cast<double>(window) / static_cast<double>(block) * (1 + eps / 4) + 2;
        if (!fixed) reach = std::min(reach, 10 * length / eps + 2);
        const double first = (static_cast<double>(blocks) - reach) / length;
        return first > 0 ? static_cast<std::uint64_t>(std::ceil(first)) : 0;
    }

    double eps;
    std::uint64_t window;
    bool fixed, sorted;                  // levels have their own sorts, so there is no chain
    bool few = false;                    // few levels have blocks; there is no chain, either
    std::uint64_t block = 1, exact = 0;  // values per base block; number of last values that are kept unchanged
    int levels = 0, top = 0;             // L; level of the longest block
    int lowest = 0;                      // level of the shortest block that is kept
    int stride = 1;                      // blocks are kept of levels that are multiples of it

  private:
    // Makes base blocks only as long as good samples need: all values in flight are in memory.
    void split(std::uint64_t grain) {
        block = grain;
        if (sorted) return;
        const double enough = std::max(32 * (levels + 1) / eps, 0x1p14);
        for (; static_cast<double>(block) > enough; block = grain >> static_cast<unsigned>(lowest)) ++lowest;
    }
    // As many blocks of the level `top` as keeps the number of entries small, if their values are not too much memory.
    void choose_few() {
        const double enough = std::max(0x1p18, 32 / eps), max_blocks = 512, w = static_cast<double>(window);
        const int lower_levels = eps < 1e-4 ? 2 : 1;
        const auto grain = static_cast<std::uint64_t>(eps * w / 4);
        for (auto by = static_cast<int>(std::lround(std::log2(2 / eps) / (lower_levels + 1))); by > 0; --by) {
            const double values = std::ldexp(static_cast<double>(grain), lower_levels * by);
            if (values > enough) continue;
            if (w / values > max_blocks) return;
            few = true;
            block = grain;
            lowest = 0;
            stride = by;
            top = lower_levels * by;
            return;
        }
    }
};

// The summary of all parts together. Pre: each has values.
template <class Summary>
[[nodiscard]] Summary sum_of(std::span<const Summary* const> parts) {
    if (parts.empty()) return {};
    if (parts.size() == 1) return *parts.front();
    if constexpr (requires { Summary::merged(parts, 0.0); }) return Summary::merged(parts, 0);
    const auto half = parts.size() / 2;
    return Summary::merged(sum_of(parts.first(half)), sum_of(parts.subspan(half)), {});
}

// Summaries that cover a window, and the number of its oldest values that are missing from them.
template <class Summary>
struct Covered {
    std::vector<const Summary*> parts;
    std::uint64_t missing = 0;
};

// A tree of 2^height base blocks: for each level, its blocks in the order of the stream, which are empty if no window
// needs them any more; and the root.
template <class Summary>
struct BlockTree {
    std::vector<std::vector<Summary>> levels;
    Summary root;
};

// Source: Arasu and Manku, PODS 2004. Blocks come from one chain of merges (Greenwald and Khanna's tree), so that each
// value is sorted only once. Blocks of a window of variable width are pruned as they age.
template <class Summary>
class SlidingWindow {
  public:
    explicit SlidingWindow(const SlidingPlan& plan)
        : plan_(plan), chain_(plan.chain()), levels_(static_cast<std::size_t>(plan.top) + 1) {}

    // If an add function throws, the block or tree was not added.
    // Pre: the block has plan.block values and an error of at most chain().max_error(1, block).
    void add(Summary block) {
        all_or_none(1, [&] {
            store(0, block);
            go_on(std::move(block), 1);
        });
    }
    // Pre: n() is a multiple of the tree's values; its blocks are packed, their errors are at most age_error(),
    // and the root's error is within the chain's limit.
    void add(BlockTree<Summary> tree) {
        const auto height = tree.levels.size() - 1;
        all_or_none(std::uint64_t{1} << height, [&] {
            for (std::size_t l = 0; l <= height; ++l) {
                for (auto& block : tree.levels[l]) levels_[l].blocks.push_back(std::move(block));
            }
            if (!plan_.few) go_on(std::move(tree.root), height + 1);
        });
    }
    // For levels with their own sorts: adds their blocks, of blocks with the same end longer ones first. Each is as
    // accurate as the windows at its completion need.
    void add_formed(int level, Summary block) {
        block.pack();
        levels_[static_cast<std::size_t>(level)].blocks.push_back(std::move(block));
        if (level > 0) return;
        ++blocks_;
        make_room({});
    }

    // The last `width` of n values, until others are added. `rest` summarizes those after the last block. Pre: they are
    // fewer than `width`.
    [[nodiscard]] Covered<Summary> last(std::uint64_t width, std::uint64_t n, const std::vector<Summary>& rest) const {
        const auto start = n - width;
        const auto lowest = static_cast<unsigned>(plan_.lowest);
        const auto length = std::uint64_t{1} << static_cast<unsigned>(plan_.first_level(width));
        const auto grain = length * plan_.block;
        auto at = std::min((start + grain - 1) / grain * length, blocks_);  // in base blocks
        Covered<Summary> out;
        out.missing = at * plan_.block - std::min(start, at * plan_.block);
        auto& parts = out.parts;
        for (const auto& part : rest) {
            if (part.n() > 0) parts.push_back(&part);
        }
        while (at < blocks_) {
            const auto fits = static_cast<unsigned>(log2_floor(blocks_ - at));
            const auto aligned = at == 0 ? fits : static_cast<unsigned>(std::countr_zero(at));
            auto level = std::min({fits, aligned, static_cast<unsigned>(plan_.top)});
            level -= level % static_cast<unsigned>(plan_.stride);
            if (level < lowest) {
                parts.push_back(chain_.bucket(level + 1));  // it stands for a bit of the number of blocks
            } else {
                const auto& from = levels_[level];
                parts.push_back(&from.blocks[static_cast<std::size_t>((at >> level) - from.first)]);
            }
            at += std::uint64_t{1} << level;
        }
        return out;
    }

    [[nodiscard]] const ErrorPlan& chain() const { return chain_.plan(); }
    [[nodiscard]] std::uint64_t n() const { return blocks_ * plan_.block; }
    [[nodiscard]] double merge_ms() const { return chain_.merge_ms(); }
    [[nodiscard]] double compress_ms() const { return chain_.compress_ms() + prune_ms_; }
    [[nodiscard]] std::size_t memory() const {
        if constexpr (for_size) return bytes() + chain_.memory() - chain_.bytes();
        auto bytes = chain_.memory() + levels_.capacity() * sizeof levels_[0];
        for (const auto& level : levels_) {
            bytes += cpu::memory_of(level.blocks);
            for (const auto& block : level.blocks) bytes += block.memory();
        }
        return bytes;
    }
    [[nodiscard]] std::size_t bytes() const {
        std::size_t bytes = chain_.bytes();
        for (const auto& level : levels_) {
            for (const auto& block : level.blocks) bytes += block.bytes() + sizeof block;
        }
        return bytes;
    }

    void write(Writer& to) const {
        to.u64(blocks_);
        for (const auto& level : levels_) {
            for (const auto& block : level.blocks) block.write(to);
        }
        chain_.write(to);
    }
    static SlidingWindow read(Reader& from, const SlidingPlan& plan) {
        SlidingWindow window(plan);
        window.blocks_ = from.u64();
        from.require(window.blocks_ <= (std::uint64_t{1} << 60U) / plan.block &&
                         (!plan.few || window.blocks_ % (std::uint64_t{1} << static_cast<unsigned>(plan.top)) == 0),
                     "the number of values");
        for (std::size_t l = 0; l < window.levels_.size(); ++l) {
            auto& level = window.levels_[l];
            const auto end = window.blocks_ >> l;
            level.first = std::min(plan.first_needed(static_cast<int>(l), window.blocks_), end);
            static_cast<void>(from.count_of(end - level.first));
            for (auto i = level.first; i < end; ++i) {
                auto block = Summary::read(from);
                from.require(block.n() == plan.block << l &&
                                 static_cast<double>(block.max_error()) <=
                                     plan.age_error(static_cast<int>(l), window.n(), end - i) * (1 + 1e-9),
                             "a block");
                block.pack();
                level.blocks.push_back(std::move(block));
            }
        }
        window.chain_ = ExponentialHistogram<Summary>::read(from, plan.chain());
        // The chain has one block per bit of their number, except for blocks of the highest levels, which are complete.
        const auto in_chain = window.blocks_ % (std::uint64_t{1} << window.levels_.size());
        for (std::size_t l = 0; l < ErrorPlan::max_ids; ++l) {
            const auto* bucket = window.chain_.bucket(l + 1);
            const bool is_there =
                !plan.sorted && !plan.few && l + 1 < window.levels_.size() && (in_chain >> l & 1U) != 0;
            from.require((bucket != nullptr) == is_there && (!is_there || bucket->n() == plan.block << l),
                         "the chain of blocks");
        }
        return window;
    }

  private:
    struct Level {
        std::uint64_t first = 0;  // index of the first block that is kept
        std::deque<Summary> blocks;
    };
    // Adds that many base blocks and the blocks that consist of them.
    void all_or_none(std::uint64_t blocks, const auto& work) {
        std::vector<std::size_t> before;
        for (const auto& level : levels_) before.push_back(level.blocks.size());
        blocks_ += blocks;
        try {
            work();
        } catch (...) {
            for (std::size_t l = 0; l < before.size(); ++l) {
                while (levels_[l].blocks.size() > before[l]) levels_[l].blocks.pop_back();
            }
            blocks_ -= blocks;
            throw;
        }
        make_room(std::move(before));
    }
    // Adds a block with its id to the chain.
    void go_on(Summary block, std::size_t id) {
        chain_.combine(std::move(block), id,
                       [this](const Summary& formed, std::size_t formed_id) { store(formed_id - 1, formed); });
        chain_.drop(levels_.size());  // longer blocks are not needed
    }
    // The blocks exist already. If memory runs out, some stay finer than necessary, which is harmless. `old` has the
    // number of old blocks of each level. Each new block doubles the age of some, which from now on only windows twice
    // as wide use.
    void make_room(std::vector<std::size_t> old) {
        for (std::size_t l = 0; l < levels_.size(); ++l) {
            auto& [first, blocks] = levels_[l];
            for (const auto needed = plan_.first_needed(static_cast<int>(l), blocks_); first < needed; ++first) {
                if (blocks.empty()) break;
                blocks.pop_front();
                if (l < old.size() && old[l] > 0) --old[l];
            }
        }
        try {
            grow();
            for (std::size_t l = 0; l < old.size() && !plan_.fixed; ++l) {
                for (auto count = old[l] + 1; count <= levels_[l].blocks.size(); ++count) {
                    for (std::size_t age = 2; age <= count; age *= 2) prune(levels_[l].blocks[count - age], l, age);
                }
            }
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
        }
    }
    // Prunes a block of that age to the accuracy that windows need from now on.
    void prune(Summary& block, std::size_t l, std::size_t age) {
        const cpu::Stopwatch time;
        block.prune(plan_.age_error(static_cast<int>(l), n(), age));
        block.pack();
        prune_ms_ += time.ms();
    }
    void store(std::size_t l, Summary block) {
        if (l < static_cast<std::size_t>(plan_.lowest)) return;
        auto& blocks = levels_[l].blocks;
        blocks.push_back(std::move(block));
        prune(blocks.back(), l, 1);
    }
    // At the start, a window of fixed width has the length of the stream.
    void grow() {
        if (!plan_.fixed || plan_.few || !std::has_single_bit(blocks_) || n() / 2 >= plan_.window) return;
        for (std::size_t l = 0; l < levels_.size(); ++l) {
            auto& level = levels_[l];
            // Levels with their own sorts are ahead of the lowest level; that changes no block.
            const auto ended = std::min<std::uint64_t>(level.blocks.size(), (blocks_ >> l) - level.first);
            for (std::size_t i = 0; i < ended; ++i) prune(level.blocks[i], l, 1);
        }
    }

    SlidingPlan plan_;
    ExponentialHistogram<Summary> chain_;
    std::vector<Level> levels_;
    std::uint64_t blocks_ = 0;
    double prune_ms_ = 0;
};

}  // namespace quadmill::detail::stream
