#include "gl/host_part.hpp"

#include <algorithm>
#include <array>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

// Makes the application's texture complete for the life of this object, as copies require. A texture of integers is
// incomplete with the default filter. The changed parameters are restored at the end.
class Complete {
  public:
    Complete(Device& device, const HostPart& part) : dialect_(*device.dialect), id_(part.id), target_(part.target) {
        const auto plain = [&](GLenum name, GLint value) {
            const auto now = dialect_.texture_parameter(id_, target_, name);
            if (now == value) return;
            changed_.push_back({name, now});
            dialect_.set_texture_parameter(id_, target_, name, value);
        };
        plain(GL_TEXTURE_BASE_LEVEL, 0);
        plain(GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        plain(GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    }
    Complete(const Complete&) = delete;
    Complete& operator=(const Complete&) = delete;
    ~Complete() {
        for (auto one = changed_.rbegin(); one != changed_.rend(); ++one)
            dialect_.set_texture_parameter(id_, target_, one->name, one->value);
    }

  private:
    struct Parameter {
        GLenum name;
        GLint value;
    };
    Dialect& dialect_;
    GLuint id_, target_;
    std::vector<Parameter> changed_;  // with the application's values
};

}  // namespace

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
    const auto level = device.dialect->level_of(id, target);
    if (!level) throw fail(no_levels);
    const auto across = level->width, up = level->height;
    if (across < 1 || up < 1) throw fail("has no level 0");
    const auto* const found = std::find_if(formats.begin(), formats.end(),
                                           [&](Format candidate) { return level->format == info(candidate).internal; });
    if (found == formats.end()) {
        std::string names;
        for (const auto one : formats) names += (names.empty() ? "" : ", ") + std::string(info(one).name);
        throw fail("must have one of the internal formats " + names);
    }
    format = *found;
    const bool is_array = target == GL_TEXTURE_2D_ARRAY || target == GL_TEXTURE_CUBE_MAP_ARRAY;
    const int layers = is_array ? level->depth : target == GL_TEXTURE_CUBE_MAP ? 6 : 1;
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

void copy_part(Device& device, const HostPart& from, const Texture& to) {
    const Complete complete(device, from);
    observe_copy(device, "copy from caller", to, from.texels(), [&] {
        device.dialect->copy({from.id, from.target, from.x, from.y, from.layer}, from.format,
                             {to.id(), GL_TEXTURE_2D, 0, 0, 0}, to.format(), from.width, from.height);
    });
}

void copy_part(Device& device, const Texture& from, std::size_t texels, const HostPart& to) {
    const Complete complete(device, to);
    observe_copy(device, "copy to caller", from, texels, [&] {
        for_first_texels(to.width, texels, [&](int row, int width, int rows) {
            device.dialect->copy({from.id(), GL_TEXTURE_2D, 0, row, 0}, from.format(),
                                 {to.id, to.target, to.x, to.y + row, to.layer}, to.format, width, rows);
        });
    });
}

}  // namespace quadmill::detail::gl
