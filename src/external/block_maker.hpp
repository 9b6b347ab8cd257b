// Fills blocks from a stream in a thread of its own, so that the next block is ready when it is wanted.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "external/blocks.hpp"

namespace quadmill::detail::external {

class BlockMaker {
  public:
    // Makes the stream, in the thread. The stream calls the tick while it waits.
    using Make = std::function<std::unique_ptr<Stream>(const Tick& tick)>;
    // `tick` is called while this object's owner waits.
    BlockMaker(Make make, Tick tick);
    BlockMaker(const BlockMaker&) = delete;
    BlockMaker& operator=(const BlockMaker&) = delete;
    // Waits until the thread uses no block.
    ~BlockMaker();

    // The thread fills the block after those before it.
    void begin(std::span<std::byte> block) { wanted_.push(block); }
    // Waits for the first of the blocks. Returns its bytes, fewer than were wanted only at the end. Throws what the
    // stream has thrown.
    [[nodiscard]] std::size_t wait() { return wait_for(filled_, gate_, tick_); }

  private:
    void fill_blocks(const Make& make);

    Tick tick_;
    Gate gate_;
    Queue<std::span<std::byte>> wanted_{gate_};
    Queue<std::size_t> filled_{gate_};
    std::thread thread_;
};

}  // namespace quadmill::detail::external
