#include "gl/pixels.hpp"

#include <algorithm>
#include <array>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/host_level.hpp"
#include "gl/system.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

// Reads in parts: the driver takes a number of bytes below 2^31, and a texture may have more.
std::vector<std::byte> read_all(Device& device, RowsOf rows) {
    constexpr std::size_t max = std::size_t{1} << 30;
    const auto row = static_cast<std::size_t>(rows.width) * info(rows.format).bytes;
    const int height = rows.rows;
    const auto rows_at_once = static_cast<int>(std::clamp<std::size_t>(max / row, 1, static_cast<std::size_t>(height)));
    std::vector<std::byte> bytes(row * static_cast<std::size_t>(height) * static_cast<std::size_t>(rows.planes()));
    auto to = std::span(bytes);
    for (int layer = 0; layer < rows.planes(); ++layer) {
        for (rows.first = 0; rows.first < height; rows.first += rows_at_once) {
            rows.rows = std::min(rows_at_once, height - rows.first);
            const auto part = row * static_cast<std::size_t>(rows.rows);
            device.dialect->read_texels(rows, layer, to.first(part));
            to = to.subspan(part);
        }
    }
    return bytes;
}

}  // namespace

RowsOf::RowsOf(const Texture& of, int first_row, int number)
    : texture(of.id()), format(of.format()), width(of.width()), first(first_row), rows(number), layers(of.layers()) {}

void upload_rows(Device& device, const PixelBuffer& from, std::size_t offset, const Texture& to, int first, int rows) {
    device.dialect->send_rows({from.id(), from.memory()}, offset, RowsOf(to, first, rows));
}

void read_rows(Device& device, const Texture& from, int first, int rows, PixelBuffer& to, std::size_t offset) {
    to.depart();
    device.dialect->read_rows(RowsOf(from, first, rows), {to.id(), to.memory()}, offset);
}

std::vector<std::byte> read_target(Device& device, const PassEvent& pass) {
    const int layers = pass.pass ? pass.pass->target->layers() : 0;  // a copy writes a plain texture
    return read_all(device, {pass.target, format_of(pass.format), pass.width, 0, pass.height, layers});
}

std::vector<std::byte> read_texels(Device& device, const Texture& texture) {
    return read_all(device, RowsOf(texture, 0, texture.height()));
}

void clear_texels(Device& device, const Texture& texture, int x, int y, int width, int height, std::uint32_t word) {
    device.dialect->clear_texels(texture, x, y, width, height, word);
}

void fill(Device& device, const Texture& texture, float value) {
    device.dialect->fill(texture, value);
}

void flush(Device& device) {
    device.gl.Flush();
}

void finish(Device& device) {
    device.gl.Finish();
}

std::uint64_t gpu_time(Device& device) {
    return device.dialect->gpu_time();
}

std::optional<std::size_t> free_bytes(Device& device) {
    const auto& gl = device.gl;
    if (device.info.software) return free_memory();
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
    if (!device.features.works_around(Workaround::TargetByBinding)) {
        return static_cast<GLuint>(device.dialect->texture_parameter(texture, GL_TEXTURE_2D, GL_TEXTURE_TARGET));
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
        bool bound = true;  // a version may not know the target
        while (gl.GetError() != GL_NO_ERROR) bound = false;
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
    if (!gl.IsTexture(id)) throw fail("is not a texture");
    if (target_of(device, id) != GL_TEXTURE_2D) throw fail("has another target");
    const auto level = level_of(device, id, GL_TEXTURE_2D);
    if (level.width < 1 || level.height < 1) throw fail("has no level 0");
    const auto* const format = std::find_if(formats.begin(), formats.end(),
                                            [&](Format candidate) { return level.format == info(candidate).internal; });
    if (format == formats.end()) throw fail("has another internal format");
    return {device, id, *format, level.width, level.height};
}

PlainAccess::PlainAccess(Device& device, const Texture& of)
    : device_(device), texture_(device, of.id(), of.format(), of.width(), of.height()) {
    const auto id = of.id();
    std::vector<Parameter> plain;
    for (const auto& [name, value] :
         {Parameter{GL_TEXTURE_MIN_FILTER, GL_NEAREST}, Parameter{GL_TEXTURE_MAG_FILTER, GL_NEAREST},
          Parameter{GL_TEXTURE_BASE_LEVEL, 0}, Parameter{GL_TEXTURE_COMPARE_MODE, GL_NONE},
          Parameter{GL_TEXTURE_SWIZZLE_R, GL_RED}, Parameter{GL_TEXTURE_SWIZZLE_G, GL_GREEN},
          Parameter{GL_TEXTURE_SWIZZLE_B, GL_BLUE}, Parameter{GL_TEXTURE_SWIZZLE_A, GL_ALPHA}}) {
        const auto now = device.dialect->texture_parameter(id, GL_TEXTURE_2D, name);
        if (now == value) continue;
        if (name == GL_TEXTURE_BASE_LEVEL) hides_level_zero_ = true;
        plain.push_back({name, value});
        changed_.push_back({name, now});
    }
    if (plain.empty()) return;
    const bool is_immutable = device.features.direct_state_access &&
                              device.dialect->texture_parameter(id, GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT) != 0;
    if (const auto view = is_immutable ? device.dialect->make_view(id, of.format()) : 0; view != 0) {
        changed_.clear();
        view_ = Handle<TextureTraits>(device.shared_from_this(), view);
        texture_ = Texture(device, view, of.format(), of.width(), of.height());
        return;
    }
    for (const auto& [name, value] : plain) device.dialect->set_texture_parameter(id, GL_TEXTURE_2D, name, value);
}

PlainAccess::~PlainAccess() {
    // In reverse order: the levels come first, while the texture is complete.
    for (auto one = changed_.rbegin(); one != changed_.rend(); ++one)
        device_.dialect->set_texture_parameter(texture_.id(), GL_TEXTURE_2D, one->name, one->value);
}

}  // namespace quadmill::detail::gl
