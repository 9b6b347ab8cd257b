// Phase 2 with the merge engine, as a stream like that of the tournament tree.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "external/gpu_merge.hpp"
#include "external/run_reader.hpp"
#include "external/slot.hpp"

namespace quadmill::detail::external {

// Merges runs. Equal keys are in the order of the runs.
class GpuMerger final : public Stream {
  public:
    // Pre: there are inputs; all records have one length, at most `block`; `format` outlives this object. `block` is
    // the number of bytes of a run that are read at a time, in whole pages. `threads` are CPU threads, including the
    // caller's; 0 takes as many as the machine has.
    GpuMerger(const Format& format, const std::vector<RunReader::Input>& inputs, std::size_t block,
              const Context& context, unsigned threads, StageClock& reading, Tick tick);
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;
    [[nodiscard]] const GpuMergeStats& stats() const { return merge_.stats(); }

    // Bytes of its CPU memory, without the textures of a software renderer.
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
    std::vector<std::vector<std::byte>> keys_;  // of each run, if keys are made
    std::span<const RunPlace> order_;           // refers to blocks_
    std::size_t given_ = 0;                     // bytes of these records that were passed on
};

}  // namespace quadmill::detail::external
