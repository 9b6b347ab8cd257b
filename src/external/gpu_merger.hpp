// Phase 2 with the merge engine, as a stream like that of the tree of losers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "external/gpu_merge.hpp"
#include "external/run_reader.hpp"
#include "external/slot.hpp"

namespace quadmill::detail::external {

// Merges runs; equal keys are in the order of the runs.
class GpuMerger final : public Stream {
  public:
    // Pre: there are inputs; records are of one length, at most `block`; `format` outlives it. `block`: bytes of a run
    // read at a time, in whole pages. `threads`: of the CPU, the caller's among them; 0 takes as many as the machine
    // has.
    GpuMerger(const Format& format, const std::vector<RunReader::Input>& inputs, std::size_t block,
              const Context& context, unsigned threads, StageClock& reading, Tick tick);
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;
    [[nodiscard]] const GpuMergeStats& stats() const { return merge_.stats(); }

    // Its CPU memory, without the textures of a software renderer.
    [[nodiscard]] static std::size_t memory(const Format& format, std::size_t runs, std::size_t block);

  private:
    bool merge_blocks();
    void make_keys();
    void take(std::span<std::byte> memory);

    const FixedKeys& format_;
    std::size_t block_;
    cpu::Workers workers_;
    GpuMerge merge_;
    RunReader reader_;
    std::vector<RunBlock> blocks_;
    std::vector<std::vector<std::byte>> keys_;  // of each run, where they are made
    std::span<const RunPlace> order_;           // of blocks_
    std::size_t given_ = 0;                     // bytes of these records
};

}  // namespace quadmill::detail::external
