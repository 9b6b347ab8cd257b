#include "gl/host_part.hpp"

#include <algorithm>
#include <array>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/host_level.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "gl_shaders.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

HostPart::HostPart(Device& device, const Region& region, std::initializer_list<Format> formats,
                   const std::string& where, const std::string& what)
    : id(region.texture), layer(region.layer), x(region.x), y(region.y), width(region.width), height(region.height) {
    const auto& gl = device.gl;
    const auto fail = [&](const std::string& why) {
        return InvalidArgument(where + ": " + what + ", object " + std::to_string(id) + ", " + why);
    };
    if (!gl.IsTexture(id)) throw fail("is not a texture");
    target = target_of(device, id);
    constexpr std::array<GLenum, 5> targets{GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP,
                                            GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_RECTANGLE};
    if (std::ranges::find(targets, target) == targets.end())
        throw fail("must be 2-D, an array of 2-D layers, a cube map or a rectangle");
    const auto level = level_of(device, id, target);
    const auto across = level.width, up = level.height;
    if (across < 1 || up < 1) throw fail("has no level 0");
    const auto* const found = std::find_if(formats.begin(), formats.end(),
                                           [&](Format candidate) { return level.format == info(candidate).internal; });
    if (found == formats.end()) {
        std::string names;
        for (const auto one : formats) names += (names.empty() ? "" : ", ") + std::string(info(one).name);
        throw fail("must have one of the internal formats " + names);
    }
    format = *found;
    const bool is_array = target == GL_TEXTURE_2D_ARRAY || target == GL_TEXTURE_CUBE_MAP_ARRAY;
    const int layers = is_array ? level.depth : target == GL_TEXTURE_CUBE_MAP ? 6 : 1;
    if (layer < 0 || layer >= layers)
        throw fail("has " + std::to_string(layers) + " layers, so there is no layer " + std::to_string(layer));
    const bool begins = x >= 0 && x < across && y >= 0 && y < up;
    if (begins && width == 0) width = across - x;
    if (begins && height == 0) height = up - y;
    if (!begins || width < 1 || height < 1 || width > across - x || height > up - y) {
        throw fail("is " + std::to_string(across) + " x " + std::to_string(up) + ", and a rectangle of " +
                   std::to_string(width) + " x " + std::to_string(height) + " at (" + std::to_string(x) + ", " +
                   std::to_string(y) + ") is not within");
    }
}

bool HostPart::is_plain() const {
    return target == GL_TEXTURE_2D;
}

namespace {

// Versions without glCopyImageSubData copy between formats by way of a pixel buffer. A pass needs no buffer, and WebGL2
// reads no texture of floats into one without an extension.
bool is_copied_by_pass(const Device& device, const HostPart& from, const Texture& to) {
    const auto is_integer = [](Format format) {
        return format == Format::R32ui || format == Format::Rg32ui || format == Format::Rgba32ui;
    };
    const bool has_words = from.format == Format::R32f || from.format == Format::R32i || from.format == Format::Rg32f ||
                           from.format == Format::Rgba32f;
    return !device.features.direct_state_access && from.is_plain() && has_words && is_integer(to.format());
}

void copy_by_pass(Device& device, const HostPart& from, const Texture& to) {
    const Unobserved unobserved(device);
    const bool is_float = from.format != Format::R32i;
    const Program program(device, "gl/bits.frag", shaders::gl_bits_frag,
                          is_float ? "#define TEXELS sampler2D\n#define BITS floatBitsToUint\n"
                                   : "#define TEXELS isampler2D\n#define BITS uvec4\n");
    const Texture texels(device, from.id, from.format, from.x + from.width, from.y + from.height);
    const Framebuffer target(device, to);
    const QuadList whole(device, {rectangle(0, 0, from.width, from.height)});
    draw(device, {.name = "bits",
                  .program = &program,
                  .inputs = {&texels},
                  .uniforms = {{"corner", glm::ivec2(from.x, from.y)}},
                  .target = &target,
                  .quads = &whole});
}

}  // namespace

void copy_part(Device& device, const HostPart& from, const Texture& to) {
    const Complete complete(*device.dialect, from.id, from.target);
    observe_copy(device, "copy from caller", to, from.texels(), [&] {
        if (is_copied_by_pass(device, from, to)) return copy_by_pass(device, from, to);
        device.dialect->copy({from.id, from.target, from.x, from.y, from.layer}, from.format,
                             {to.id(), GL_TEXTURE_2D, 0, 0, 0}, to.format(), from.width, from.height);
    });
}

void copy_part(Device& device, const Texture& from, std::size_t texels, const HostPart& to) {
    const Complete complete(*device.dialect, to.id, to.target);
    observe_copy(device, "copy to caller", from, texels, [&] {
        for_first_texels(to.width, texels, [&](int row, int width, int rows) {
            device.dialect->copy({from.id(), GL_TEXTURE_2D, 0, row, 0}, from.format(),
                                 {to.id, to.target, to.x, to.y + row, to.layer}, to.format, width, rows);
        });
    });
}

}  // namespace quadmill::detail::gl
