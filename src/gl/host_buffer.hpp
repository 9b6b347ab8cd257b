// Buffer objects of the application. They are copied to textures for passes to read, and written by copies from
// textures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "gl/objects.hpp"

namespace quadmill::detail::gl {

// A buffer of the application, not owned.
class HostBuffer {
  public:
    // Throws InvalidArgument if `id` is not a buffer or the application has mapped it; `where` and `what`, as in "the
    // buffer of keys", go into the message.
    HostBuffer(Device& device, std::uint32_t id, const std::string& where, const std::string& what);
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::uint32_t id_;
    std::size_t bytes_ = 0;
};

// A copy of a part of a buffer, for passes to read. Texel i is at (i mod width, i div width) of the texture, which is
// reused for the next part.
class BufferTexels {
  public:
    // Copies bytes [first, first + bytes) as texels of R32UI or R16UI. Pre: both are multiples of a texel's bytes, and
    // `bytes` is at most most().
    const Texture& copy(Device& device, const HostBuffer& buffer, Format format, std::size_t first, std::size_t bytes);
    // Max bytes of one part.
    [[nodiscard]] static std::size_t max(Device& device, Format format);

  private:
    Texture texture_;
};

// Copies the first `texels` texels, row after row, to the buffer, beginning at byte `to_first`. Does not wait.
void copy_to_buffer(Device& device, const Texture& from, std::size_t texels, const HostBuffer& to, std::size_t offset);

}  // namespace quadmill::detail::gl
