#include "gl/host_level.hpp"

#include <array>
#include <cstring>
#include <string>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/objects.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "gl_shaders.hpp"

namespace quadmill::detail::gl {

Complete::Complete(Dialect& dialect, std::uint32_t texture, std::uint32_t target)
    : dialect_(dialect), texture_(texture), target_(target) {
    const auto plain = [&](GLenum name, GLint value) {
        const auto now = dialect_.texture_parameter(texture_, target_, name);
        if (now == value) return;
        changed_.push_back({name, now});
        dialect_.set_texture_parameter(texture_, target_, name, value);
    };
    plain(GL_TEXTURE_BASE_LEVEL, 0);
    plain(GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    plain(GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    plain(GL_TEXTURE_SWIZZLE_R, GL_RED);
    plain(GL_TEXTURE_SWIZZLE_G, GL_GREEN);
    plain(GL_TEXTURE_SWIZZLE_B, GL_BLUE);
    plain(GL_TEXTURE_SWIZZLE_A, GL_ALPHA);
}

Complete::~Complete() {
    for (auto one = changed_.rbegin(); one != changed_.rend(); ++one)
        dialect_.set_texture_parameter(texture_, target_, one->name, one->value);
}

namespace {

std::string sampler_of(GLenum internal, std::uint32_t target) {
    const auto sampled = sampled_from(internal);
    const char* const kind = sampled == Sampled::UnsignedIntegers ? "u" : sampled == Sampled::SignedIntegers ? "i" : "";
    const char* const shape = target == GL_TEXTURE_2D_ARRAY ? "2DArray" : target == GL_TEXTURE_CUBE_MAP ? "Cube" : "2D";
    return kind + std::string("sampler") + shape;
}

// Draws one texel that holds the size.
void find_size(Device& device, std::uint32_t texture, std::uint32_t target, Dialect::Level& level) {
    const Unobserved unobserved(device);
    const Complete complete(*device.dialect, texture, target);
    auto defines = "#define TEXELS " + sampler_of(level.format, target) + "\n";
    if (target == GL_TEXTURE_2D_ARRAY) defines += "#define LAYERS\n";
    const Program program(device, "gl/size.frag", shaders::gl_size_frag, defines);
    const Texture found(device, Format::Rgba32ui, 1, 1);
    const Framebuffer framebuffer(device, found);
    const QuadList whole(device, {rectangle(0, 0, 1, 1)});
    device.gl.ActiveTexture(GL_TEXTURE0);
    device.gl.BindTexture(target, texture);
    device.gl.BindSampler(0, 0);
    device.pipeline.textures[0] = 0;
    draw(device, {.name = "size", .program = &program, .target = &framebuffer, .quads = &whole});
    const auto bytes = read_texels(device, found);
    std::array<int, 3> size{};
    std::memcpy(size.data(), bytes.data(), sizeof size);
    level.width = size[0];
    level.height = size[1];
    level.depth = size[2];
}

}  // namespace

Dialect::Level level_of(Device& device, std::uint32_t texture, std::uint32_t target) {
    auto level = device.dialect->level_of(texture, target);
    if (level.width != Dialect::Level::unknown) return level;
    if (level.format == 0) return {0, 1, 1, 1};  // refused for its format, so its size does not matter
    find_size(device, texture, target, level);
    return level;
}

}  // namespace quadmill::detail::gl
