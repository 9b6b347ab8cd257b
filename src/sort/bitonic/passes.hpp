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

// `count` keys in windows of `window` keys. The last window may be shorter. Each is padded to the elements of a window
// in `shape`. Pre: at most 2^30 elements.
struct BitonicJob {
    // Source of the keys, and what is written back.
    enum class Kind {
        Sort,            // from memory; keys, and an index if the form has one
        Argsort,         // from memory; only the index
        ArgsortTexture,  // from a texture of the application to another one
    };
    KeyForm form;
    BitonicShape shape;
    std::size_t count = 0, window = 0;
    std::size_t block = 0;  // like BitonicOptions::block
    int steps_per_pass = 3;
    Kind kind = Kind::Sort;

    // Layers of the texture, one word each: one layer for a key or two for a key of 64 bits, and one for the index.
    [[nodiscard]] int planes() const { return form.source_words() + (form.indexed ? 1 : 0); }
};

// The textures of one sort.
struct BitonicTextures {
    BitonicTextures(gl::Device& device, const BitonicJob& job);
    // Whether these textures are large enough for the job.
    [[nodiscard]] bool fits(const BitonicJob& job) const;

    BitonicJob made_for;
    pass::Target memory, index;  // layout as in memory; `index` only with an index. Both unused
                                 // if the textures are the application's
    pass::PingPong planes;
};

class BitonicPasses {
  public:
    explicit BitonicPasses(gl::Device& device) : device_(device), programs_(device) {}

    // Issues the passes that sort the windows in textures.memory, in place, and fill textures.index.
    void sort(BitonicTextures& textures, const BitonicJob& job);
    // Like sort(), for the first `count` texels of `keys`. Writes the index to the first texels of `to`. Pre: one
    // window, of 32-bit words, with an index.
    void argsort(BitonicTextures& textures, const BitonicJob& job, const gl::Texture& keys, const gl::Framebuffer& to);

  private:
    // A range of the list of quads, drawn with these uniforms.
    struct Quads {
        std::size_t first, count;
        int turn_row, columns;
    };
    struct Plan {
        BitonicShape shape;
        std::size_t block;
        int steps_per_pass;
        std::vector<BitonicPass> passes;
        std::vector<Quads> quads_of;  // quads of each pass
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
