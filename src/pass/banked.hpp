// Keys in a banked texture: its layers are render targets, so that one fragment writes a block of 32 words, or of 16
// words if there are fewer than 8 targets.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "gl/objects.hpp"

namespace quadmill::detail::pass {

// A block is the texels at the same x and y, one per layer. Odd blocks are half_height rows above even ones. Pairs of
// blocks are in tiles of 8 x 4, row after row of tiles. One row below both halves has the smallest and the largest key.
struct Banked {
    static constexpr int max_layers = 8, tile_width = 8, tile_height = 4;
    int row_log2 = 3, half_height = 0;
    int layers = max_layers;  // or 4

    // The smallest shape that holds that many pairs of blocks; near square.
    static Banked of_pairs(std::size_t pairs, int layers);
    // Height in texels of the rows of tiles for that many pairs.
    [[nodiscard]] static int rows_for(std::size_t pairs, int row_log2);
    [[nodiscard]] int block_words() const { return 4 * layers; }
    [[nodiscard]] int width() const { return 1 << row_log2; }
    [[nodiscard]] int height() const { return 2 * half_height + 1; }
    [[nodiscard]] std::size_t pairs() const {
        return static_cast<std::size_t>(width()) * static_cast<std::size_t>(half_height);
    }
    // Index of the texel of a pair's even block, counted row after row of a layer.
    [[nodiscard]] std::size_t texel_of_pair(std::size_t pair) const;
};

// Reads banked textures back and puts their words in order.
class BankedReadBack {
  public:
    // Receives words in order. `first` is the index of the first word. A word is a channel of a texel. Called by
    // several threads.
    using Take = std::function<void(std::size_t first, std::span<const std::byte> words)>;

    // Requests the texels of the first `pairs` pairs without waiting. Pre: a session is open.
    void request(gl::Device& device, const gl::Texture& texture, const Banked& shape, std::size_t pairs);
    // Waits for everything.
    void wait();
    // Whether wait() would return immediately.
    [[nodiscard]] bool ready() { return parts_.empty() || parts_.back().arrived.passed(); }
    // After the last read the texture may be destroyed.
    void drop() { parts_.clear(); }
    // Passes all words on, each part when it has arrived; waits for the GPU.
    void take(cpu::Workers& workers, const Take& take);

  private:
    struct Part {
        std::size_t first, rows, offset;  // rows of tiles, and their offset in bytes
        gl::Fence arrived;
    };
    void take_tile_row(const Part& part, std::size_t tile_row, const Take& take) const;

    gl::PixelBuffer buffer_;
    std::vector<Part> parts_;
    Banked shape_;
    std::size_t pairs_ = 0, texel_bytes_ = 0;
};

}  // namespace quadmill::detail::pass
