// The indices of set bits as a list that the GPU makes: a pyramid of counts, each the sum of 16 of the level below. One
// fragment per entry goes down from the top.
// Source: stream compaction by histogram pyramids, Ziegler, Tevs, Theobalt, Seidel, 2006; MDS'09, section 3.2, has a
// list of pairs that threads append to, which fragments cannot.
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

// Words of bits: GLSL with `uint word_at(int w)` of texture0, and `uvec2 found(int word, int bit)`, which gives the
// list's entry for a bit, from texture1 if there are `values`.
struct BitWords {
    std::string glsl;
    const gl::Texture* texture = nullptr;
    gl::Uniforms uniforms;
    std::size_t words = 0;  // 2^28 at most, with values 2^25
    const gl::Texture* values = nullptr;
};

class BitList {
  public:
    BitList(gl::Device& device, pass::Programs& programs) : device_(device), programs_(programs) {}
    // The number of set bits; waits for the GPU. Pre: below 2^32, a session is open.
    [[nodiscard]] std::uint64_t count(const BitWords& words);
    // count() without waiting: the texel's channels add up to the count.
    const gl::Texture& count_on_gpu(const BitWords& words);
    // Draws entries [first, first + n) of the list of the words last counted, over all of the target. Pre: an RG32UI or
    // R32UI target (which has found().x), list_width wide. With Length::Known there are at least that many; otherwise
    // there may be fewer, followed by zeros.
    enum class Length { Known, OnGpu };
    void draw(const BitWords& words, std::uint64_t first, std::size_t n, const pass::Target& target,
              Length length = Length::Known);
    // Fills the target with entries of the list, a random one from each of as many equal parts. Pre: as draw(); at most
    // 2^16, and at most the number of set bits, which the CPU knows.
    void draw_sample(const BitWords& words, std::uint64_t bits_set, const pass::Target& target);

  private:
    void list(const char* name, const BitWords& words, const std::string& defines, const gl::Uniforms& uniforms,
              const pass::Target& target);

    gl::Device& device_;
    pass::Programs& programs_;
    std::vector<pass::Target> levels_;  // the lowest first
    pass::ReadBack back_;
};

// Makes it again if its format or size differs.
void fit(gl::Device& device, pass::Target& target, gl::Format format, int width, int height);

}  // namespace quadmill::detail::query
