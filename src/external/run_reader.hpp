// Runs from temporary files, block by block: each run's next block is read ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
        std::uint64_t next = 0, end = 0;  // part of the file that is still to be read
        std::size_t skip = 0;             // bytes before the run in its first page
        std::byte* blocks[2]{};           // each has a margin, then a block
        std::size_t block = 0;            // bytes
        std::size_t current = 1;          // index of the current block
        std::size_t coming = 0;           // bytes of the other block; 0 if there are no more
        bool has_come = false;
        const std::byte *at = nullptr, *to = nullptr;  // rest of the current block
        // For the caller's use: key of the record at `at`; bytes of the record, 0 at the end of the run; bytes of the
        // key of a line or of a record that tells its length.
        const std::byte* key = nullptr;
        std::size_t length = 0, key_bytes = 0;
    };

    // That many bytes after each block can be read, so that words at a key's end can be.
    static constexpr std::size_t readable = 7;

    // Starts reading the first block of each run; next_block() returns it.
    RunReader(const std::vector<Input>& inputs, std::size_t margin, std::size_t block, StageClock& clock, Tick tick);
    // Uses the owner's memory and transfers. If the runs fit into the memory, each is read as one block. Pre:
    // `readable` bytes after the memory can be read, and no transfer is in flight.
    RunReader(const std::vector<Input>& inputs, std::size_t margin, std::span<std::byte> memory, Transfers& io);

    [[nodiscard]] std::vector<Run>& runs() { return runs_; }
    // Moves the rest of the current block, which is at most the margin, to the front of the next one. False at the end
    // of the run.
    bool next_block(std::size_t run);

  private:
    void add_blocks(const std::vector<Input>& inputs, std::byte* memory, std::size_t block);
    void add_whole(const std::vector<Input>& inputs, std::byte* memory);
    Run& add(const Input& input);
    void read_next(std::size_t run);
    void wait_for(std::size_t run);

    std::size_t margin_;
    files::Memory memory_;
    std::vector<Run> runs_;
    std::optional<Transfers> own_io_;  // after the memory, so that its destructor waits before the memory is freed
    Transfers& io_;
};

}  // namespace quadmill::detail::external
