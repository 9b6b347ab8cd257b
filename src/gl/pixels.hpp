// Moves texels between pixel buffers and textures, and checks textures of the application.
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

// An offset in the bound buffer, as the pointer that GL expects.
[[nodiscard]] inline void* offset_pointer(std::size_t offset) {
    return reinterpret_cast<void*>(offset);  // NOLINT(performance-no-int-to-ptr)
}

// Rows [first, first + rows) of a texture, in all its layers.
struct RowsOf {
    RowsOf(const Texture& texture, int first, int rows);
    RowsOf(std::uint32_t of, Format its_format, int its_width, int first_row, int number, int its_layers = 0)
        : texture(of), format(its_format), width(its_width), first(first_row), rows(number), layers(its_layers) {}
    std::uint32_t texture;
    Format format;
    int width, first, rows, layers;  // 0 layers: not an array texture
    [[nodiscard]] int planes() const { return layers > 0 ? layers : 1; }
};

// Uploads rows [first, first + rows) from the buffer, where they are tightly packed from byte `offset` on. Does not
// wait. Pre: a session is open.
void upload_rows(Device& device, const PixelBuffer& from, std::size_t offset, const Texture& to, int first, int rows);

// Reads rows into the buffer. For an array texture it reads these rows of all layers, layer after layer.
void read_rows(Device& device, const Texture& from, int first, int rows, PixelBuffer& to, std::size_t offset);

// All texels that a pass wrote, layer after layer, for an observer. Waits for the GPU. Pre: a session is open.
[[nodiscard]] std::vector<std::byte> read_target(Device& device, const PassEvent& pass);
// All texels of a texture, layer after layer.
[[nodiscard]] std::vector<std::byte> read_texels(Device& device, const Texture& texture);

// Sets every word of a rectangle's texels, in all layers. Pre: an unsigned integer format.
void clear_texels(Device& device, const Texture& texture, int x, int y, int width, int height, std::uint32_t word);

// Sets every channel of all texels. Pre: a format of 32-bit floats, or of depth.
void fill(Device& device, const Texture& texture, float value);

// Makes the GPU start the work issued so far.
void flush(Device& device);
// Waits until the GPU has done the work issued so far.
void finish(Device& device);

// Bytes that the driver reports as free for textures; for a software renderer, the machine's free memory. Nothing if it
// does not report any.
[[nodiscard]] std::optional<std::size_t> free_bytes(Device& device);
// Below this number of bytes, asking for free memory is not worth its time.
inline constexpr std::size_t worth_asking = std::size_t{1} << 26U;

// The GPU's current time in nanoseconds, on the clock of Query::Kind::Timestamp.
[[nodiscard]] std::uint64_t gpu_time(Device& device);

// OpenGL's target of the texture; 0 if that target cannot be sampled as 2-D texels.
[[nodiscard]] std::uint32_t target_of(Device& device, std::uint32_t texture);

// A texture of the application, not owned. Checks that `id` is a 2-D texture with a level 0 in one of the formats.
// Throws InvalidArgument; `where` and `what`, as in "the texture of keys", go into the message.
[[nodiscard]] Texture host_texture(Device& device, std::uint32_t id, std::initializer_list<Format> formats,
                                   const std::string& where, const std::string& what);

// Gives access to a texture of the application as if it had the parameters of the library's own textures: level 0, no
// filter, swizzle or comparison. Parameters matter for fetches, copies and targets, too: a texture of integers with the
// default MAG_FILTER is incomplete, and BASE_LEVEL and swizzle apply even if a sampler object is bound. Use texture()
// while this object lives. It is a view if the storage is immutable, so that nothing of the application's changes;
// otherwise it is the texture itself, and the destructor restores its parameters.
class PlainAccess {
  public:
    PlainAccess(Device& device, const Texture& of);
    PlainAccess(const PlainAccess&) = delete;
    PlainAccess& operator=(const PlainAccess&) = delete;
    ~PlainAccess();
    [[nodiscard]] const Texture& texture() const noexcept { return texture_; }
    // Whether the application's BASE_LEVEL excludes level 0. NVIDIA's driver then hides from later reads what was drawn
    // into level 0, but not what was copied there.
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
    std::vector<Parameter> changed_;  // with the application's values
    bool hides_level_zero_ = false;
};

}  // namespace quadmill::detail::gl
