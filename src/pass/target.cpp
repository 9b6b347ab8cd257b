#include "pass/target.hpp"

#include <algorithm>

namespace quadmill::detail::pass {

Target::Target(gl::Device& device, gl::Format format, int width, int height, int layers)
    : texture(device, format, width, height, layers),
      framebuffer(device, texture),
      whole(device, {gl::rectangle(0, 0, width, height)}) {}

std::vector<gl::Quad> first_texels(int width, std::size_t count) {
    std::vector<gl::Quad> quads;
    gl::for_first_texels(width, count, [&](int row, int across, int rows) {
        quads.push_back(gl::rectangle(0, row, across, row + rows));
    });
    return quads;
}

void fill(gl::Device& device, std::string_view name, const gl::Program& program, const Target& target,
          std::initializer_list<const gl::Texture*> inputs, gl::Uniforms uniforms, gl::Note note) {
    gl::Pass pass{.name = name,
                  .note = note,
                  .program = &program,
                  .uniforms = std::move(uniforms),
                  .target = &target.framebuffer,
                  .quads = &target.whole};
    std::ranges::copy(inputs, pass.inputs.begin());
    draw(device, pass);
}

}  // namespace quadmill::detail::pass
