#include "gl/pixels.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

// In parts, since the driver is told their bytes in 31 bits: a texture may have more.
std::vector<std::byte> read_all(Device& device, GLuint texture, const FormatInfo& format, int width, int height,
                                int layers) {
    constexpr std::size_t most = std::size_t{1} << 30;
    const auto row = static_cast<std::size_t>(width) * format.bytes;
    const auto rows_at_once =
        static_cast<int>(std::clamp<std::size_t>(most / row, 1, static_cast<std::size_t>(height)));
    std::vector<std::byte> bytes(row * static_cast<std::size_t>(height) * static_cast<std::size_t>(layers));
    auto* to = bytes.data();
    for (int layer = 0; layer < layers; ++layer) {
        for (int first = 0; first < height; first += rows_at_once) {
            const int rows = std::min(rows_at_once, height - first);
            const auto part = row * static_cast<std::size_t>(rows);
            device.gl.GetTextureSubImage(texture, 0, 0, first, layer, width, rows, 1, format.format, format.type,
                                         static_cast<GLsizei>(part), to);
            to += part;
        }
    }
    return bytes;
}

}  // namespace

RowsOf::RowsOf(const Texture& of, int first_row, int number)
    : texture(of.id()),
      format(of.format()),
      width(of.width()),
      first(first_row),
      rows(number),
      layers(std::max(of.layers(), 1)) {}

void upload_rows(const Api& gl, std::uint32_t from, std::size_t offset, const RowsOf& to) {
    const auto& format = info(to.format);
    gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, from);
    gl.TextureSubImage2D(to.texture, 0, 0, to.first, to.width, to.rows, format.format, format.type,
                         offset_pointer(offset));
    gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void read_rows(const Api& gl, const RowsOf& from, std::uint32_t to, std::size_t offset) {
    const auto& format = info(from.format);
    const auto bytes = static_cast<std::size_t>(from.width) * static_cast<std::size_t>(from.rows) *
                       static_cast<std::size_t>(from.layers) * format.bytes;
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, to);
    gl.GetTextureSubImage(from.texture, 0, 0, from.first, 0, from.width, from.rows, from.layers, format.format,
                          format.type, static_cast<GLsizei>(bytes), offset_pointer(offset));
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

void upload_rows(Device& device, const PixelBuffer& from, std::size_t offset, const Texture& to, int first, int rows) {
    upload_rows(device.gl, from.id(), offset, RowsOf(to, first, rows));
}

void read_rows(Device& device, const Texture& from, int first, int rows, const PixelBuffer& to, std::size_t offset) {
    read_rows(device.gl, RowsOf(from, first, rows), to.id(), offset);
}

std::vector<std::byte> read_target(Device& device, const PassEvent& pass) {
    return read_all(device, pass.target, info(format_of(pass.format)), pass.width, pass.height, pass.targets);
}

std::vector<std::byte> read_texels(Device& device, const Texture& texture) {
    return read_all(device, texture.id(), info(texture.format()), texture.width(), texture.height(),
                    std::max(texture.layers(), 1));
}

void clear_texels(Device& device, const Texture& texture, int x, int y, int width, int height, std::uint32_t word) {
    const std::array<GLuint, 4> texel{word, word, word, word};
    device.gl.ClearTexSubImage(texture.id(), 0, x, y, 0, width, height, std::max(texture.layers(), 1),
                               info(texture.format()).format, GL_UNSIGNED_INT, texel.data());
}

void fill(Device& device, const Texture& texture, float value) {
    const std::array<GLfloat, 4> texel{value, value, value, value};
    device.gl.ClearTexImage(texture.id(), 0, info(texture.format()).format, GL_FLOAT, texel.data());
}

void fill_stencil(Device& device, const Texture& texture, std::uint8_t value) {
    device.gl.ClearTexImage(texture.id(), 0, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, &value);
}

void flush(Device& device) {
    device.gl.Flush();
}

void finish(Device& device) {
    device.gl.Finish();
}

std::uint64_t gpu_time(Device& device) {
    GLint64 now = 0;
    device.gl.GetInteger64v(GL_TIMESTAMP, &now);
    return static_cast<std::uint64_t>(now);
}

std::optional<std::size_t> free_bytes(Device& device) {
    const auto& gl = device.gl;
    if (device.info.software) {
        std::ifstream lines("/proc/meminfo");
        for (std::string word; lines >> word;) {
            std::size_t kilobytes = 0;
            if (word == "MemAvailable:" && lines >> kilobytes) return kilobytes << 10U;
        }
        return {};
    }
    std::array<GLint, 4> kilobytes{};
    if (gl.NVX_gpu_memory_info) {
        gl.GetIntegerv(GL_GPU_MEMORY_INFO_CURRENT_AVAILABLE_VIDMEM_NVX, kilobytes.data());
    } else if (gl.ATI_meminfo) {
        gl.GetIntegerv(GL_TEXTURE_FREE_MEMORY_ATI, kilobytes.data());
    } else {
        return {};
    }
    return static_cast<std::size_t>(kilobytes[0]) << 10U;
}

std::uint32_t target_of(Device& device, std::uint32_t texture) {
    const auto& gl = device.gl;
    GLint target = 0;
    if (!device.features.works_around(Workaround::TargetByBinding)) {
        gl.GetTextureParameteriv(texture, GL_TEXTURE_TARGET, &target);
        return static_cast<GLuint>(target);
    }
    struct Binding {
        GLenum target, name;
    };
    gl.ActiveTexture(GL_TEXTURE0);
    for (const auto& [candidate, name] : {Binding{GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D},
                                          {GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY},
                                          {GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP},
                                          {GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY},
                                          {GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE}}) {
        GLint before = 0;
        gl.GetIntegerv(name, &before);
        gl.BindTexture(candidate, texture);
        const bool bound = gl.GetError() == GL_NO_ERROR;
        gl.BindTexture(candidate, static_cast<GLuint>(before));
        if (bound) return candidate;
    }
    return 0;
}

Texture host_texture(Device& device, std::uint32_t id, std::initializer_list<Format> formats, const std::string& where,
                     const std::string& what) {
    const auto& gl = device.gl;
    std::string names;
    for (const auto format : formats) names += (names.empty() ? "" : " or ") + std::string(info(format).name);
    const auto fail = [&](const std::string& why) {
        return InvalidArgument(where + ": " + what + " must be a 2-D " + names + " texture, and object " +
                               std::to_string(id) + " " + why);
    };
    if (!gl.IsTexture(id)) throw fail("is no texture");
    GLint internal = 0, width = 0, height = 0;
    if (target_of(device, id) != GL_TEXTURE_2D) throw fail("has another target");
    gl.GetTextureLevelParameteriv(id, 0, GL_TEXTURE_INTERNAL_FORMAT, &internal);
    gl.GetTextureLevelParameteriv(id, 0, GL_TEXTURE_WIDTH, &width);
    gl.GetTextureLevelParameteriv(id, 0, GL_TEXTURE_HEIGHT, &height);
    if (width < 1 || height < 1) throw fail("has no level 0");
    const auto* const format = std::find_if(formats.begin(), formats.end(), [&](Format candidate) {
        return static_cast<GLenum>(internal) == info(candidate).internal;
    });
    if (format == formats.end()) throw fail("has another internal format");
    return {device, id, *format, width, height};
}

PlainAccess::PlainAccess(Device& device, const Texture& of)
    : device_(device), texture_(device, of.id(), of.format(), of.width(), of.height()) {
    const auto& gl = device.gl;
    const auto id = of.id();
    std::vector<Parameter> plain;
    for (const auto& [name, value] :
         {Parameter{GL_TEXTURE_MIN_FILTER, GL_NEAREST}, Parameter{GL_TEXTURE_MAG_FILTER, GL_NEAREST},
          Parameter{GL_TEXTURE_BASE_LEVEL, 0}, Parameter{GL_TEXTURE_COMPARE_MODE, GL_NONE},
          Parameter{GL_TEXTURE_SWIZZLE_R, GL_RED}, Parameter{GL_TEXTURE_SWIZZLE_G, GL_GREEN},
          Parameter{GL_TEXTURE_SWIZZLE_B, GL_BLUE}, Parameter{GL_TEXTURE_SWIZZLE_A, GL_ALPHA}}) {
        GLint now = 0;
        gl.GetTextureParameteriv(id, name, &now);
        if (now == value) continue;
        if (name == GL_TEXTURE_BASE_LEVEL) hides_level_zero_ = true;
        plain.push_back({name, value});
        changed_.push_back({name, now});
    }
    if (plain.empty()) return;
    GLint immutable = GL_FALSE;
    gl.GetTextureParameteriv(id, GL_TEXTURE_IMMUTABLE_FORMAT, &immutable);
    if (immutable) {
        changed_.clear();
        GLuint view = 0;
        gl.GenTextures(1, &view);
        view_ = Handle<TextureTraits>(device.shared_from_this(), view);
        gl.TextureView(view, GL_TEXTURE_2D, id, info(of.format()).internal, 0, 1, 0, 1);
        texture_ = Texture(device, view, of.format(), of.width(), of.height());
        gl.TextureParameteri(view, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        gl.TextureParameteri(view, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        return;
    }
    for (const auto& [name, value] : plain) gl.TextureParameteri(id, name, value);
}

PlainAccess::~PlainAccess() {
    // The other way round: levels first, while the texture is complete.
    for (auto one = changed_.rbegin(); one != changed_.rend(); ++one)
        device_.gl.TextureParameteri(texture_.id(), one->name, one->value);
}

}  // namespace quadmill::detail::gl
