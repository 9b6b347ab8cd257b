#include "pass/target.hpp"

#include <algorithm>

namespace quadmill::detail::pass {

Target::Target(gl::Device& device, gl::Format format, int width, int height, int layers)
    : texture(device, format, width, height, layers),
      framebuffer(device, texture),
      whole(device, {gl::rectangle(0, 0, width, height)}) {}

std::vector<gl::Quad> first_texels(int width, std::size_t count) {
    const auto across = static_cast<std::size_t>(width);
    const auto rows = static_cast<int>(count / across), rest = static_cast<int>(count % across);
    std::vector<gl::Quad> quads;
    if (rows > 0) quads.push_back(gl::rectangle(0, 0, width, rows));
    if (rest > 0) quads.push_back(gl::rectangle(0, rows, rest, rows + 1));
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
