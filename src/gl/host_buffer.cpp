#include "gl/host_buffer.hpp"

#include <algorithm>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {
int part_width(const Device& device) {
    return std::min(device.info.max_texture_size, 1 << 14);
}
}  // namespace

HostBuffer::HostBuffer(Device& device, std::uint32_t id, const std::string& where, const std::string& what) : id_(id) {
    const auto& gl = device.gl;
    const auto fail = [&](const char* why) {
        return InvalidArgument(where + ": " + what + ", object " + std::to_string(id) + ", " + why);
    };
    if (!gl.IsBuffer(id)) throw fail("is not a buffer; give the name of one that was bound or made by glCreateBuffers");
    auto& dialect = *device.dialect;
    const auto access = static_cast<GLuint>(dialect.buffer_parameter(id, GL_BUFFER_ACCESS_FLAGS));
    if (dialect.buffer_parameter(id, GL_BUFFER_MAPPED) != 0 && (access & GLuint{GL_MAP_PERSISTENT_BIT}) == 0)
        throw fail("is mapped, so OpenGL may not use it; unmap it before the call, or map it persistently");
    bytes_ = static_cast<std::size_t>(dialect.buffer_parameter(id, GL_BUFFER_SIZE));
}

const Texture& BufferTexels::copy(Device& device, const HostBuffer& buffer, Format format, std::size_t first,
                                  std::size_t bytes) {
    const auto texel = info(format).bytes, texels = bytes / texel;
    const auto width = std::min(static_cast<std::size_t>(part_width(device)), texels);
    const auto across = static_cast<int>(width), up = static_cast<int>((texels + width - 1) / width);
    if (!texture_ || texture_.format() != format || texture_.width() != across || texture_.height() < up) {
        texture_ = {};
        texture_ = Texture(device, format, across, up);
    }
    for_first_texels(across, texels, [&](int row, int texels_across, int rows) {
        device.dialect->send_rows({.id = buffer.id()}, first + static_cast<std::size_t>(row) * width * texel,
                                  {texture_.id(), format, texels_across, row, rows});
    });
    return texture_;
}

std::size_t BufferTexels::max(Device& device, Format format) {
    return static_cast<std::size_t>(part_width(device)) * static_cast<std::size_t>(device.info.max_texture_size) *
           info(format).bytes;
}

void copy_to_buffer(Device& device, const Texture& from, std::size_t texels, const HostBuffer& to, std::size_t offset) {
    const auto bytes = info(from.format()).bytes;
    const auto width = static_cast<std::size_t>(from.width());
    const auto rows = texels / width, rest = texels % width;
    const auto copy = [&](std::size_t row, std::size_t across, std::size_t up) {
        if (across == 0 || up == 0) return;
        device.dialect->read_rows(
            {from.id(), from.format(), static_cast<int>(across), static_cast<int>(row), static_cast<int>(up)},
            {.id = to.id()}, offset + row * width * bytes);
    };
    const auto max_rows = (std::size_t{1} << 30U) / (width * bytes);  // the number of bytes must fit a GLsizei
    for (std::size_t row = 0; row < rows; row += max_rows) copy(row, width, std::min(max_rows, rows - row));
    copy(rows, rest, 1);
}

}  // namespace quadmill::detail::gl
