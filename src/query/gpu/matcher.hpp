// Nested loops on the GPU, a textbook's n x m comparisons: a fragment reads 32 keys of the right side and the ranges of
// four rows of the left, and writes a word of matches for each of these. Of the words, which are 0 is read back as bits;
// then only those that are not.
// Source: Tsakalozos, Tsangaris, Delis, MDS'09, section 3.2, Algorithm 2, as it must have been meant: a fragment where
// the paper has a thread of a block, ranges where it has equality, rows that are selected alone on either side, and a
// list of words, not of pairs, that fragments need not append to.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "pass/transfer.hpp"
#include "query/cpu/join.hpp"
#include "query/gpu/gpu_tables.hpp"

namespace quadmill::detail::query {

class Matcher {
  public:
    // Tests ask for few texels of matches at once. Pre: `texels` is a power of two from 32 on.
    Matcher(gl::Device& device, unsigned threads, std::size_t texels = std::size_t{1} << 20U);
    // As MatchAll says. `take` may use the same matcher. Pre: a session is open.
    void operator()(std::span<const KeyRange> ranges, std::span<const Key> keys, const TakeMatches& take);

  private:
    friend class MatchRun;
    // What calls may take over from those before.
    struct Kept {
        pass::Target matches, blocks, words;
        gl::Texture ranges, places;
        std::vector<gl::Texture> keys;
        std::array<pass::Uploader, 2> uploaders;
        pass::ReadBack blocks_back, words_back;
    };

    gl::Device& device_;
    cpu::Workers workers_;
    pass::Programs programs_;
    std::size_t texels_;
    Kept kept_;
};

}  // namespace quadmill::detail::query
