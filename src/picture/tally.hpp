// A picture that passes can read, and numbers of its texels in bins.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>

#include "gl/pass.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"

namespace quadmill::detail::picture {

inline constexpr int word_texels = 32;  // of a bit plane, as in the shaders

[[nodiscard]] constexpr int parts(int count, int size) {
    return (count + size - 1) / size;
}

// The target, made again if it has another size.
const pass::Target& sized(gl::Device& device, pass::Target& target, gl::Format format, int width, int height,
                          int layers = 0);

// A picture as value.glsl reads it.
struct Source {
    const gl::Texture* texture = nullptr;
    int x = 0, y = 0, width = 0, rows = 0, last_width = 0;
    std::array<float, 4> weights{};  // of the channels
    bool one_channel = false;        // of the texture
    enum class Counted { Once, ByAlpha, ByMask } counted = Counted::Once;
    int levels = 1;  // a weight of 1 counts that often
    const gl::Texture* mask = nullptr;

    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(rows - 1) +
               static_cast<std::size_t>(last_width);
    }
    // Max sum of their weights.
    [[nodiscard]] std::size_t times() const { return texels() * static_cast<std::size_t>(levels); }
    // The channel whose values are those of the picture, or -1 if they are sums.
    [[nodiscard]] int channel() const;
    // For a pass that reads values, and for one that reads weights, too.
    enum class Weights { Off, On };
    [[nodiscard]] std::string prelude(Weights weights) const;
    [[nodiscard]] gl::Uniforms uniforms(Weights weights) const;
};

// Counts texels in slots of 16 bins, from bit planes: in tiles of 7 words, and these in chunks of 128 tiles. Texels
// that count several times are counted for each bit of their weights.
class Tally {
  public:
    Tally(gl::Device& device, pass::Programs& programs) : device_(device), programs_(programs) {}

    // Draws the weights of the picture for the next calls of count().
    void weigh(const Source& source);
    // For the programs of tiles.
    [[nodiscard]] std::string prelude() const;

    struct Tiles {
        const char* name = nullptr;  // of the pass
        const gl::Program* program = nullptr;
        std::array<const gl::Texture*, 2> inputs{};
        gl::Uniforms uniforms{};
        int width = 0, height = 0;  // of a plane, in words
        int slots = 0, layers = 0;  // layers: slots per fragment of the program, as its number of render targets
    };
    struct Chunks {
        const gl::Texture& texture;  // of chunks.frag
        gl::Uniforms uniforms;       // for a shader that adds them up: chunks, weights, stride
    };
    // The program has prelude() before it.
    Chunks count(Tiles tiles);
    // Render targets for that many slots.
    [[nodiscard]] int layers_for(int slots) const;

  private:
    gl::Device& device_;
    pass::Programs& programs_;
    // A call counts several times, so targets are kept by the number of slots and of layers.
    using Targets = std::map<std::array<int, 2>, pass::Target>;
    const pass::Target& kept(Targets& targets, const Tiles& of, int width, int height, int layers);

    Targets tiles_, chunks_;
    pass::Target weights_;
    int weight_bits_ = 0;  // 0: each texel counts once
};

}  // namespace quadmill::detail::picture
