#include "gl/host_buffer.hpp"

#include <algorithm>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

std::size_t alignment(const Api& gl) {
    GLint bytes = 1;
    gl.GetIntegerv(GL_TEXTURE_BUFFER_OFFSET_ALIGNMENT, &bytes);
    return static_cast<std::size_t>(std::max(bytes, 1));
}

}  // namespace

HostBuffer::HostBuffer(Device& device, std::uint32_t id, const std::string& where, const std::string& what) : id_(id) {
    const auto& gl = device.gl;
    const auto fail = [&](const char* why) {
        return InvalidArgument(where + ": " + what + ", object " + std::to_string(id) + ", " + why);
    };
    if (!gl.IsBuffer(id)) throw fail("is no buffer; give the name of one that was bound or made by glCreateBuffers");
    GLint mapped = GL_FALSE, access = 0;
    gl.GetNamedBufferParameteriv(id, GL_BUFFER_MAPPED, &mapped);
    gl.GetNamedBufferParameteriv(id, GL_BUFFER_ACCESS_FLAGS, &access);
    if (mapped && (static_cast<GLuint>(access) & GLuint{GL_MAP_PERSISTENT_BIT}) == 0)
        throw fail("is mapped, so OpenGL may not use it; unmap it before the call, or map it persistently");
    GLint64 bytes = 0;
    gl.GetNamedBufferParameteri64v(id, GL_BUFFER_SIZE, &bytes);
    bytes_ = static_cast<std::size_t>(bytes);
}

BufferTexels::BufferTexels(Device& device, const HostBuffer& buffer, Format format, std::size_t first,
                           std::size_t bytes) {
    const auto& gl = device.gl;
    GLuint id = 0;
    gl.CreateTextures(GL_TEXTURE_BUFFER, 1, &id);
    texture_ = Handle<TextureTraits>(device.shared_from_this(), id);
    const auto begin = first - first % alignment(gl), texel = info(format).bytes;
    first_ = static_cast<int>((first - begin) / texel);
    gl.TextureBufferRange(id, info(format).internal, buffer.id(), static_cast<GLintptr>(begin),
                          static_cast<GLsizeiptr>(first + bytes - begin));
    device.check("BufferTexels", std::to_string(bytes) + " bytes of the buffer " + std::to_string(buffer.id()));
}

std::size_t BufferTexels::most(Device& device, Format format) {
    GLint texels = 0;
    device.gl.GetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &texels);
    return static_cast<std::size_t>(texels) * info(format).bytes - alignment(device.gl);
}

void copy_to_buffer(Device& device, const Texture& from, std::size_t texels, const HostBuffer& to, std::size_t offset) {
    const auto& gl = device.gl;
    const auto& format = info(from.format());
    const auto width = static_cast<std::size_t>(from.width());
    const auto rows = texels / width, rest = texels % width;
    const auto copy = [&](std::size_t row, std::size_t across, std::size_t up) {
        if (across == 0 || up == 0) return;
        gl.GetTextureSubImage(from.id(), 0, 0, static_cast<GLint>(row), 0, static_cast<GLsizei>(across),
                              static_cast<GLsizei>(up), 1, format.format, format.type,
                              static_cast<GLsizei>(across * up * format.bytes),
                              offset_pointer(offset + row * width * format.bytes));
    };
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, to.id());
    const auto most_rows = (std::size_t{1} << 30U) / (width * format.bytes);  // of which a GLsizei counts the bytes
    for (std::size_t row = 0; row < rows; row += most_rows) copy(row, width, std::min(most_rows, rows - row));
    copy(rows, rest, 1);
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

}  // namespace quadmill::detail::gl
