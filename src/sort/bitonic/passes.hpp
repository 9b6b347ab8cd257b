// GPUTeraSort's bitonic sort as passes between two textures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gl/pass.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "sort/bitonic/network.hpp"
#include "sort/key_form.hpp"

namespace quadmill::detail::sort {

// What there is to sort: `count` keys in windows of `window`, the last one perhaps shorter, each padded to the elements
// of a window in `shape`. Pre: 2^30 elements at most.
struct BitonicJob {
    // Where the keys come from, and what goes back.
    enum class Kind {
        Sort,            // from memory; the keys, and the index of a form that has one
        Argsort,         // from memory; the index alone
        ArgsortTexture,  // from a texture of the host to another one
    };
    KeyForm form;
    BitonicShape shape;
    std::size_t count = 0, window = 0;
    std::size_t block = 0;  // as BitonicOptions::block
    int steps_per_pass = 3;
    Kind kind = Kind::Sort;

    // Layers of the texture, a word each: one of a key, or two of a key of 64 bits, and one for the index.
    [[nodiscard]] int planes() const { return form.source_words() + (form.indexed ? 1 : 0); }
};

// The textures of one sort.
struct BitonicTextures {
    BitonicTextures(gl::Device& device, const BitonicJob& job);
    // Whether it can serve that job.
    [[nodiscard]] bool fits(const BitonicJob& job) const;

    BitonicJob made_for;
    pass::Target memory, index;  // keys, and places of keys, as in memory; `index` only with an index, and neither when
                                 // textures of the host are
    pass::PingPong planes;
};

class BitonicPasses {
  public:
    explicit BitonicPasses(gl::Device& device) : device_(device), programs_(device) {}

    // Issues the passes that sort the windows in textures.memory, in place, and fill textures.index.
    void sort(BitonicTextures& textures, const BitonicJob& job);
    // The same of the first `count` texels of `keys`, whose places go to the first ones of `to`. Pre: one window, of
    // words of 32 bits, with an index.
    void argsort(BitonicTextures& textures, const BitonicJob& job, const gl::Texture& keys, const gl::Framebuffer& to);

  private:
    // A range of the list, to be drawn with these uniforms.
    struct Quads {
        std::size_t first, count;
        int turn_row, columns;
    };
    struct Plan {
        BitonicShape shape;
        std::size_t block;
        int steps_per_pass;
        std::vector<BitonicPass> passes;
        std::vector<Quads> quads_of;  // each pass
        gl::QuadList quads;
    };
    const Plan& plan(const BitonicJob& job);
    void load(BitonicTextures& textures, const BitonicJob& job, const gl::Texture& from, gl::Uniforms uniforms);
    void make_all_steps(BitonicTextures& textures, const BitonicJob& job);
    void store(BitonicTextures& textures, const BitonicJob& job, const char* name, const std::string& defines);
    void make_steps(BitonicTextures& textures, const BitonicJob& job, const Plan& plan, std::size_t i);

    gl::Device& device_;
    pass::Programs programs_;
    std::vector<Plan> plans_;
};

}  // namespace quadmill::detail::sort
