// Render targets of passes.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "gl/pass.hpp"

namespace quadmill::detail::pass {

// A texture that passes write. All layers of an array texture are written in one pass, each as a render target.
struct Target {
    Target() = default;
    Target(gl::Device& device, gl::Format format, int width, int height, int layers = 0);
    [[nodiscard]] bool is(gl::Format format, int width, int height) const {
        return texture && texture.format() == format && texture.width() == width && texture.height() == height;
    }

    gl::Texture texture;
    gl::Framebuffer framebuffer;
    gl::QuadList whole;  // one quad that covers the texture
};

// The first `count` texels of a texture, row after row.
[[nodiscard]] std::vector<gl::Quad> first_texels(int width, std::size_t count);

// Draws over the whole target, with the inputs on units 0 and following.
void fill(gl::Device& device, std::string_view name, const gl::Program& program, const Target& target,
          std::initializer_list<const gl::Texture*> inputs, gl::Uniforms uniforms = {}, gl::Note note = {});

// Two textures of the same size: a pass reads `now` and writes `next`, and then they are swapped.
struct PingPong {
    PingPong() = default;
    PingPong(gl::Device& device, gl::Format format, int width, int height, int layers = 0)
        : now(device, format, width, height, layers), next(device, format, width, height, layers) {}
    void swap() noexcept { std::swap(now, next); }

    Target now, next;
};

}  // namespace quadmill::detail::pass
