// Moving texels between pixel buffers and textures, and looking at textures of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "gl/objects.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

// What GL takes for a place in the buffer that is bound.
[[nodiscard]] inline void* offset_pointer(std::size_t offset) {
    return reinterpret_cast<void*>(offset);  // NOLINT(performance-no-int-to-ptr)
}

// Rows [first, first + rows) of a texture, of all its layers.
struct RowsOf {
    RowsOf(const Texture& texture, int first, int rows);
    RowsOf(std::uint32_t of, Format its_format, int its_width, int first_row, int number, int its_layers)
        : texture(of), format(its_format), width(its_width), first(first_row), rows(number), layers(its_layers) {}
    std::uint32_t texture;
    Format format;
    int width, first, rows, layers;  // layers: at least 1; of an array texture if there are more
};

// Sends rows [first, first + rows) from the buffer, tightly packed at `offset` bytes; returns at once.
// Pre: a session is open.
void upload_rows(Device& device, const PixelBuffer& from, std::size_t offset, const Texture& to, int first, int rows);

// The other way; of an array texture, rows of all layers, one layer after the other.
void read_rows(Device& device, const Texture& from, int first, int rows, PixelBuffer& to, std::size_t offset);

// All texels that a pass wrote, layer after layer, for its observer; waits for the GPU. Pre: a session is open.
[[nodiscard]] std::vector<std::byte> read_target(Device& device, const PassEvent& pass);
// All texels of a texture, in the same way.
[[nodiscard]] std::vector<std::byte> read_texels(Device& device, const Texture& texture);

// Sets every word of the texels of a rectangle, in all layers. Pre: an unsigned integer format.
void clear_texels(Device& device, const Texture& texture, int x, int y, int width, int height, std::uint32_t word);

// Sets every channel of all texels. Pre: a format of 32-bit floats, or of depth.
void fill(Device& device, const Texture& texture, float value);
// Pre: Format::Stencil8.
void fill_stencil(Device& device, const Texture& texture, std::uint8_t value);

// Starts the work issued so far.
void flush(Device& device);
// Waits until it is done.
void finish(Device& device);

// Memory for textures that the driver says is free; a software renderer's is the machine's. Nothing where it is not
// said.
[[nodiscard]] std::optional<std::size_t> free_bytes(Device& device);
// For fewer bytes than this it is not worth asking.
inline constexpr std::size_t worth_asking = std::size_t{1} << 26U;

// The GPU's time now, in nanoseconds, on the clock of Query::Kind::Timestamp.
[[nodiscard]] std::uint64_t gpu_time(Device& device);

// What a message says where Dialect::level_of() tells nothing.
inline constexpr const char* no_levels =
    "cannot be looked at: OpenGL ES 3.0 does not tell the size and format of a texture; make the context of OpenGL ES "
    "3.1 or later";

// The target that the texture was made for, as OpenGL names it; 0 where that is none that can be sampled as 2-D texels.
[[nodiscard]] std::uint32_t target_of(Device& device, std::uint32_t texture);

// A texture of the host, not owned: checks that `id` is a 2-D texture of one of the formats with a level 0.
// Throws InvalidArgument; `where` and `what`, as in "the texture of keys", go into the message.
[[nodiscard]] Texture host_texture(Device& device, std::uint32_t id, std::initializer_list<Format> formats,
                                   const std::string& where, const std::string& what);

// A texture of the host as if its parameters were those of the library's own: level 0 without filter, swizzle or
// comparison. They count for fetches, copies and targets too: a texture of integers with the default MAG_FILTER is
// incomplete, and BASE_LEVEL and swizzle hold also where a sampler object is bound. While this lives, texture() is to be
// used: a view where the storage cannot change, so that nothing of the host's is touched; else the texture itself, whose
// parameters come back in the end.
class PlainAccess {
  public:
    PlainAccess(Device& device, const Texture& of);
    PlainAccess(const PlainAccess&) = delete;
    PlainAccess& operator=(const PlainAccess&) = delete;
    ~PlainAccess();
    [[nodiscard]] const Texture& texture() const noexcept { return texture_; }
    // The host's BASE_LEVEL leaves level 0 out. NVIDIA then keeps what is drawn into level 0 from whoever reads it later;
    // what is copied there is seen.
    [[nodiscard]] bool hides_level_zero() const noexcept { return hides_level_zero_; }
    [[nodiscard]] bool is_view() const noexcept { return static_cast<bool>(view_); }

  private:
    struct Parameter {
        std::uint32_t name;
        int value;
    };
    Device& device_;
    Handle<TextureTraits> view_;
    Texture texture_;
    std::vector<Parameter> changed_;  // with the host's values
    bool hides_level_zero_ = false;
};

}  // namespace quadmill::detail::gl
