// Runs from temporary files, block by block: each run's next block is read ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "external/blocks.hpp"
#include "files/block_io.hpp"

namespace quadmill::detail::external {

class RunReader {
  public:
    struct Input {
        FilePlace place;
        std::uint64_t bytes = 0;
    };
    // A run: its current block, and the next one in flight.
    struct Run {
        FilePlace place;
        std::uint64_t next = 0, end = 0;  // in the file: what is to be read
        std::byte* blocks[2]{};           // a margin, then a block
        std::size_t current = 1;          // of the blocks
        std::size_t coming = 0;           // bytes of the other block; 0: there are no more
        bool has_come = false;
        const std::byte *at = nullptr, *to = nullptr;  // what is left of the current block
        const std::byte* key = nullptr;                // for the caller's use: of the record at `at`,
        std::size_t length = 0;                        // and its length; 0 at the end of the run
    };

    // Starts reading the first block of each run; next_block() returns it.
    RunReader(const std::vector<Input>& inputs, std::size_t margin, std::size_t block, StageClock& clock, Tick tick);

    [[nodiscard]] std::vector<Run>& runs() { return runs_; }
    // Moves the rest of the current block, at most the margin, before the next one. False at the end of the run.
    bool next_block(std::size_t run);

  private:
    void read_next(std::size_t run);
    void wait_for(std::size_t run);

    std::size_t margin_, block_;
    files::Memory memory_;
    std::vector<Run> runs_;
    Transfers io_;  // last, so that it waits before the memory goes
};

}  // namespace quadmill::detail::external
