// Nested loops on the GPU, with a textbook's n x m comparisons. A fragment reads 32 keys of the right side and the
// ranges of four left rows, and writes a word of matches for each of them. The GPU makes a list of pairs from the words
// of a block (some left rows against all keys), and the list is read back. Source: Tsakalozos, Tsangaris, Delis,
// MDS'09, section 3.2, Algorithm 2, corrected: fragments instead of threads, ranges instead of equality, and only
// selected rows of either side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pass/transfer.hpp"
#include "query/cpu/join.hpp"
#include "query/gpu/bit_list.hpp"
#include "query/gpu/bitmap_columns.hpp"

namespace quadmill::detail::query {

// A column in a texture and its selected rows.
struct TextureSide {
    const GpuColumn& column;
    const Shape& shape;
    const gl::Texture* rows;  // selection without NULLs; null: all rows
    std::size_t count;
};

// Indices of a left and of a right row.
struct Match {
    std::uint32_t left, right;
};
using TakeMatches = std::function<Next(std::span<const Match>)>;

class Matcher {
  public:
    // Tests use few texels of matches. Pre: `texels` is a power of two, at least 32.
    explicit Matcher(gl::Device& device, std::size_t texels = std::size_t{1} << 20U)
        : device_(device), programs_(device), texels_(texels) {}
    // Passes pairs of rows with equal keys to `take`, ordered by left row, then by right row, and returns their number.
    // Only the pairs leave the GPU. The columns compare `as` in a Pair. `positions` has the index of each text of the
    // left side in the right side's dictionary, 1024 per line, or is null. `block_rows` is Join's. `take` may use the
    // same matcher. Pre: a session is open.
    std::uint64_t operator()(const TextureSide& left, const TextureSide& right, Pair::As as,
                             const gl::Texture* positions, std::size_t block_rows, const TakeMatches& take);

    // Objects that later calls reuse.
    struct Kept {
        Kept(gl::Device& device, pass::Programs& programs) : bits(std::make_unique<BitList>(device, programs)) {}
        pass::Target matches, ranges;
        // Pairs that are read back together, and their rows, by number of lines: 8, 16, ... 512.
        std::array<pass::Target, 7> pairs, rows;
        std::array<pass::Target, 2> lists;  // of the rows on either side
        std::vector<pass::Target> keys;
        std::unique_ptr<BitList> bits;
        pass::ReadBack back;
    };

  private:
    friend class MatchRun;
    gl::Device& device_;
    pass::Programs programs_;
    std::size_t texels_;
    std::unique_ptr<Kept> kept_;
};

}  // namespace quadmill::detail::query
