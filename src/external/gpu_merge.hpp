// Phase 2 of an external sort on the GPU: blocks of sorted runs are merged by the merge engine, starting at the level
// of the runs. The paper names it as future work (SIGMOD'06, section 6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "external/wide_keys.hpp"
#include "quadmill/context.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::external {

// The part of a run in memory: its next keys, in order.
struct RunBlock {
    enum class Rest { None, More };  // of the run, behind them
    WideKeys keys;
    std::size_t count = 0;
    Rest rest = Rest::None;
};

// A key of a block.
struct RunPlace {
    std::uint32_t run, key;
    bool operator==(const RunPlace&) const = default;
};

// Statistics of merges; times are wall-clock milliseconds.
struct GpuMergeStats {
    std::uint64_t merges = 0, keys = 0, given = 0;  // keys: on the GPU, those that come again each time
    std::uint64_t tied = 0;                         // keys whose words were equal, put in order by comparing them whole
    double key_ms = 0, merge_ms = 0, scan_ms = 0;
};

// Keys are items as in the wide sort: 64 bits, with the first bits of the key and an index. If these bits are equal,
// the CPU compares whole keys.
class GpuMerge {
  public:
    // `threads`: of the CPU, the caller's among them; 0 takes as many as the machine has.
    GpuMerge(Context context, unsigned threads);

    // The first keys of all blocks in order, as far as no key outside of memory can come before them: up to the
    // smallest last key of a run that goes on. Equal keys are in the order of the runs. Valid until the next call. Each
    // block takes the memory of the longest one, rounded up to a power of two.
    // Pre: a run that goes on has a key in memory. Throws InvalidArgument for more than the engine holds; GlError,
    // std::bad_alloc.
    std::span<const RunPlace> merge(std::span<const RunBlock> runs);

    [[nodiscard]] const GpuMergeStats& stats() const { return stats_; }

  private:
    // The layout of runs: each takes 2^run_log2 items.
    struct Shape {
        unsigned run_log2, place_bits, word_bits;
        [[nodiscard]] RunPlace place(std::uint64_t item) const;
        [[nodiscard]] std::uint64_t word(std::uint64_t item) const { return item >> place_bits; }
    };
    [[nodiscard]] static Shape shape_of(std::span<const RunBlock> runs);
    void take_words(std::span<const RunBlock> runs, const Shape& shape);
    void scan(std::span<const RunBlock> runs, const Shape& shape, std::size_t keys);

    Context context_;
    cpu::Workers workers_;
    std::optional<sort::MergeSort> engine_;  // made on first use, within a session
    std::vector<std::uint64_t> items_;
    std::vector<RunPlace> order_;
    GpuMergeStats stats_;
};

}  // namespace quadmill::detail::external
