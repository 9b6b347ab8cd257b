// Makes a list of the indices of set bits on the GPU with a pyramid of counts. Each count is the sum of 16 counts of
// the level below. One fragment per entry goes down from the top.
// Source: stream compaction by histogram pyramids, Ziegler, Tevs, Theobalt, Seidel, 2006. (In MDS'09, section 3.2,
// threads append to a list of pairs, which fragments cannot do.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"

namespace quadmill::detail::query {

// Entries per line in the textures of lists.
inline constexpr int list_width = 1024;

// Words of bits. The GLSL has `uint word_at(int w)`, which reads texture0, and `uvec2 found(int word, int bit)`, which
// gives the list's entry for a bit and reads texture1 if there are `values`.
struct BitWords {
    std::string glsl;
    const gl::Texture* texture = nullptr;
    gl::Uniforms uniforms;
    std::size_t words = 0;  // at most 2^28, with values 2^25
    const gl::Texture* values = nullptr;
};

class BitList {
  public:
    BitList(gl::Device& device, pass::Programs& programs) : device_(device), programs_(programs) {}
    // The number of set bits; waits for the GPU. Pre: below 2^32, a session is open.
    [[nodiscard]] std::uint64_t count(const BitWords& words);
    // Like count(), without waiting. The sum of the texel's channels is the count.
    const gl::Texture& count_on_gpu(const BitWords& words);
    // Draws entries [first, first + n) of the list for the words that were counted last, over all of the target. Pre:
    // the target is RG32UI or R32UI (which gets found().x) and list_width wide. With Length::Known there are at least
    // that many entries. Otherwise there may be fewer, followed by zeros.
    enum class Length { Known, OnGpu };
    void draw(const BitWords& words, std::uint64_t first, std::size_t n, const pass::Target& target,
              Length length = Length::Known);
    // Fills the target with a random sample: one entry from each of several equal parts of the list. Pre: as for
    // draw(). There are at most 2^16 entries, at most as many as set bits, and the CPU knows the number of set bits.
    void draw_sample(const BitWords& words, std::uint64_t bits_set, const pass::Target& target);

  private:
    void list(const char* name, const BitWords& words, const std::string& defines, const gl::Uniforms& uniforms,
              const pass::Target& target);

    gl::Device& device_;
    pass::Programs& programs_;
    std::vector<pass::Target> levels_;  // from the lowest level
    pass::ReadBack back_;
};

// Replaces the target if its format or size differs.
void fit(gl::Device& device, pass::Target& target, gl::Format format, int width, int height);

}  // namespace quadmill::detail::query
