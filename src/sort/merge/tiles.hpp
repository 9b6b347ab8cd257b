// Keys in tiles (shaders/sort/tiles.glsl), which subgroups of 32 fragments sort and merge, and their way back to
// memory.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "gl/pass.hpp"
#include "pass/quad_lists.hpp"
#include "pass/target.hpp"
#include "sort/key_form.hpp"
#include "sort/merge/segments.hpp"

namespace quadmill::detail::sort {

struct Tiles {
    static constexpr std::size_t lanes = 32, granules = 128, granule_words = 8;
    static constexpr int width = 4, height = 8, layers = 8;  // texels of a tile
    int row_log2 = 0;                                        // log2 of the tiles in a row
    int rows = 1;

    // The smallest shape for that many tiles; near square.
    static Tiles of(std::size_t tiles);
    [[nodiscard]] std::size_t in_row() const { return std::size_t{1} << static_cast<unsigned>(row_log2); }
    [[nodiscard]] std::size_t tiles() const { return in_row() * static_cast<std::size_t>(rows); }
    [[nodiscard]] int rows_for(std::size_t tiles) const { return static_cast<int>((tiles + in_row() - 1) / in_row()); }
    [[nodiscard]] int texture_width() const { return width << row_log2; }
    [[nodiscard]] int fill_row() const { return height * rows; }
};

// Which part of each tile has keys: `step` granules, beginning with granule `head`. Each segment begins with a new tile
// and has `tiles` tiles.
struct TileContent {
    std::size_t head = 0, step = Tiles::granules, tiles = 1;
};

// Draws rows of tiles [first, end).
using DrawTiles = std::function<void(int first, int end)>;

// The textures of a sort. They also serve smaller sorts.
struct TileTextures {
    TileTextures(gl::Device& device, const KeyForm& form, std::size_t tiles);
    [[nodiscard]] static std::size_t bytes(const KeyForm& form, std::size_t tiles);
    [[nodiscard]] bool fits(const KeyForm& form, std::size_t tiles) const;
    // Rows of `source` for that many tiles.
    [[nodiscard]] std::size_t source_rows(std::size_t tiles) const;
    // Rows of tiles that are complete when that many rows of `source` are.
    [[nodiscard]] int rows_from(std::size_t source_rows) const;
    // Quads of rows of tiles [first, end), and of the texels with the cuts of that many blocks and one more.
    const gl::QuadList& rows_of(int first, int end);
    const gl::QuadList& cuts_of(std::size_t blocks);

    KeyForm made_for;
    Tiles shape;
    pass::Target source;  // layout as in memory
    pass::PingPong keys;
    pass::Target cuts;

  private:
    pass::QuadLists quads_;
};

// Reads tiles back and puts their words in order.
class TileReadBack {
  public:
    // Receives the words of one tile; called by several threads.
    using Take = std::function<void(std::size_t tile, std::span<const std::byte> words)>;

    // Requests the first `tiles` tiles without waiting. Draws the rows of tiles of a part first if necessary. Pre: a
    // session is open.
    void request(gl::Device& device, const gl::Texture& texture, const Tiles& shape, const TileContent& content,
                 std::size_t tiles, const DrawTiles& draw = {});
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
    void take_piece(const Part& part, std::size_t row, std::size_t piece, const Take& take) const;

    gl::PixelBuffer buffer_;
    std::vector<Part> parts_;
    Tiles shape_;
    TileContent content_;
    std::size_t tiles_ = 0, texel_bytes_ = 0;
    std::size_t pieces_ = 1;  // of a row of tiles; one thread takes each
};

}  // namespace quadmill::detail::sort
