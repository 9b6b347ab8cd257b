// Phase 2 of an external sort on the GPU: blocks of sorted runs are merged by the merge engine, starting at the level
// of the runs. The paper mentions it as future work (SIGMOD'06, section 6).
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

// The part of a run that is in memory: its next keys, in order.
struct RunBlock {
    enum class Rest { None, More };  // whether the run continues after this block
    WideKeys keys;
    std::size_t count = 0;
    Rest rest = Rest::None;
};

// A key in a block.
struct RunPlace {
    std::uint32_t run, key;
    bool operator==(const RunPlace&) const = default;
};

// Statistics of merges; times are wall-clock milliseconds.
struct GpuMergeStats {
    std::uint64_t merges = 0, keys = 0, given = 0;  // keys: all on the GPU, including those that are sent repeatedly
    std::uint64_t tied = 0;                         // keys with equal words, which were compared whole
    double key_ms = 0, merge_ms = 0, scan_ms = 0;
};

// Keys are items as in the wide sort: 64 bits with the first bits of the key and an index. If the first bits are equal,
// the CPU compares whole keys.
class GpuMerge {
  public:
    // `threads` are CPU threads, including the caller's; 0 takes as many as the machine has.
    GpuMerge(Context context, unsigned threads);

    // The first keys of all blocks, in order, as far as no key outside of memory can come before them. That is up to
    // the smallest last key of a run that continues. Equal keys are in the order of the runs. The result is valid until
    // the next call. Each block takes the memory of the longest one, rounded up to a power of two. Pre: a run that
    // continues has a key in memory. Throws InvalidArgument if there are more keys than the engine holds; GlError,
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
