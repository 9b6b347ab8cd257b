// Phase 2: runs from temporary files are merged by a tree of losers, each run's next block read ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "external/blocks.hpp"
#include "external/plan.hpp"

namespace quadmill::detail::external {

// Of equal keys, those of the run that is named first come first.
class Merger final : public Stream {
  public:
    struct Input {
        Place place;
        std::uint64_t bytes;
    };
    // Pre: there are inputs, at most plan.fan_in; `format` outlives it.
    Merger(const Format& format, const std::vector<Input>& inputs, const MergePlan& plan, StageClock& reading,
           Tick tick);
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;

  private:
    // A run: the block that it gives from, and the next one under way.
    struct Run {
        Place place;
        std::uint64_t next, end;  // in the file: what is to be read
        std::byte* blocks[2];     // a margin, then a block
        std::size_t current = 1;  // of the blocks
        std::size_t coming = 0;   // bytes of the other block; 0: nothing is under way
        bool has_come = false;
        const std::byte *at = nullptr, *to = nullptr;  // what is left of the current block
        const std::byte* key = nullptr;
        std::size_t length = 0;  // of the record; 0 at the end of the run
    };
    // What the tree compares, without a look at the run unless two are equal.
    struct Head {
        std::uint64_t prefix, run;
    };

    void read_next(std::size_t run);
    void wait_for(std::size_t run);
    bool next_block(std::size_t run);
    void find_record(std::size_t run);
    [[nodiscard]] bool comes_first(std::size_t a, std::size_t b) const;
    [[nodiscard]] Head head(std::size_t run) const;
    [[nodiscard]] bool wins(const Head& a, const Head& b) const;
    Head build(std::size_t node);
    void replay(std::size_t run);

    const Format& format_;
    MergePlan plan_;
    std::size_t record_bytes_ = 0, key_bytes_ = 0, key_offset_ = 0;
    bool makes_keys_ = false;
    files::Memory memory_;
    std::vector<std::byte> keys_;  // one a run, where they are made
    std::vector<Run> runs_;
    std::vector<Head> tree_;           // [0] is the winner
    std::span<const std::byte> rest_;  // of the winner's record, which was cut
    Transfers io_;
};

}  // namespace quadmill::detail::external
