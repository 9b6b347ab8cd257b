// The operations that differ between versions of OpenGL. The rest of src/gl calls functions that all versions have
// directly, and calls a Dialect for the others. Each context gets one dialect when it is opened.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gl/objects.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

class Device;
struct Loader;
struct RowsOf;
enum class Blend;

// A rectangle of one layer of a texture.
struct PlaneOf {
    std::uint32_t texture, target;  // target in OpenGL's sense
    int x, y, layer;
};

class Dialect {
  public:
    using Id = std::uint32_t;
    Dialect() = default;
    Dialect(const Dialect&) = delete;
    Dialect& operator=(const Dialect&) = delete;
    virtual ~Dialect() = default;

    // The lines that every shader begins with.
    [[nodiscard]] virtual std::string shader_header() const = 0;

    // Objects. Textures have one level and are not filtered; `layers` 0 means that it is not an array texture.
    [[nodiscard]] virtual Id make_texture(Format format, int width, int height, int layers) = 0;
    // Attachments of a framebuffer: a colour texture or all layers of one, and a texture with depth, stencil or both.
    struct Attachments {
        Id color = 0;
        int layers = 0;
        Id depth_or_stencil = 0;
        Format format = Format::Depth32f;  // format of depth_or_stencil
    };
    struct MadeFramebuffer {
        Id id;
        bool is_complete;
    };
    [[nodiscard]] virtual MadeFramebuffer make_framebuffer(const Attachments& attachments) = 0;
    [[nodiscard]] virtual Id make_buffer(std::span<const std::byte> content) = 0;
    // `quads` is a buffer of PassQuad. Each quad is an instance, with its corners as attributes 0 and 1. 0 means no
    // attributes.
    [[nodiscard]] virtual Id make_vertex_array(Id quads) = 0;
    [[nodiscard]] virtual Id make_query(Query::Kind kind) = 0;

    // Memory for transfers. It is mapped for its whole life if the version can do that. Otherwise rows are uploaded
    // from the caller's memory, and rows that were read are mapped after a fence, until more rows are read.
    struct Staging {
        Id id = 0;
        std::span<std::byte> memory{};
    };
    [[nodiscard]] virtual Staging make_staging(PixelBuffer::Direction direction, std::size_t bytes) = 0;
    virtual void send_rows(const Staging& from, std::size_t offset, const RowsOf& to) = 0;
    virtual void read_rows(const RowsOf& from, const Staging& to, std::size_t offset) = 0;
    [[nodiscard]] virtual std::span<std::byte> map(Id staging, std::size_t bytes) = 0;
    virtual void unmap(Id staging) = 0;

    // Waits for the GPU. Pre: `bytes` has room for these rows of one layer.
    virtual void read_texels(const RowsOf& from, int layer, std::span<std::byte> bytes) = 0;
    // Sets every word of a rectangle's texels, in all layers. Pre: an unsigned integer format.
    virtual void clear_texels(const Texture& texture, int x, int y, int width, int height, std::uint32_t word) = 0;
    virtual void fill(const Texture& texture, float value) = 0;
    virtual void clear_stencil(Id framebuffer, std::uint8_t value) = 0;
    // Copies bit for bit. The two formats have the same number of bytes.
    virtual void copy(const PlaneOf& from, Format from_format, const PlaneOf& to, Format to_format, int width,
                      int height) = 0;

    // Drawing.
    virtual void bind_texture(std::uint32_t unit, const Texture& texture) = 0;
    virtual void set_viewport(int width, int height) = 0;
    virtual void set_blend(std::uint32_t target, Blend blend) = 0;
    using Box = std::array<int, 4>;  // x, y, width, height
    virtual void set_scissor(const std::optional<Box>& box) = 0;
    virtual void draw_quads(Id quads, int corners, std::size_t first, std::size_t count) = 0;
    virtual void begin_count(Id query) = 0;
    virtual void end_count() = 0;
    // False if this version has no conditional rendering.
    virtual bool begin_condition(Id query) = 0;
    virtual void end_condition() noexcept = 0;

    // Queries. The GPU writes its time to the query. If it has no clock, this returns 0, and no time is reported.
    [[nodiscard]] virtual std::optional<std::uint64_t> take_time(Id query) = 0;
    [[nodiscard]] virtual std::uint64_t result(Id query, Query::Kind kind) = 0;
    // Makes the GPU write the query's count to the buffer. False if the version has no such call.
    [[nodiscard]] virtual bool count_to_buffer(Id query, Id buffer, std::size_t offset) = 0;
    // Reads all of such a buffer. Does nothing if count_to_buffer() returned false.
    virtual void read_counts(Id buffer, std::span<std::uint32_t> counts) = 0;
    [[nodiscard]] virtual std::uint64_t gpu_time() = 0;
    [[nodiscard]] virtual bool is_lost() = 0;

    // Parameters of the application's objects. Describes level 0 of a texture.
    struct Level {
        static constexpr int unknown = -1;
        std::uint32_t format;      // OpenGL's internal format
        int width, height, depth;  // unknown in OpenGL ES 3.0
    };
    [[nodiscard]] virtual int texture_parameter(Id texture, std::uint32_t target, std::uint32_t name) = 0;
    virtual void set_texture_parameter(Id texture, std::uint32_t target, std::uint32_t name, int value) = 0;
    [[nodiscard]] virtual Level level_of(Id texture, std::uint32_t target) = 0;
    [[nodiscard]] virtual std::int64_t buffer_parameter(Id buffer, std::uint32_t name) = 0;
    // Another view of the texture, with parameters of its own; 0 if the version has no views.
    [[nodiscard]] virtual Id make_view(Id texture, Format format) = 0;

    // An object that contexts do not share and that stores two numbers of 31 bits.
    [[nodiscard]] virtual Id make_marker(const std::array<int, 2>& mark) = 0;
    [[nodiscard]] virtual std::array<int, 2> read_marker(Id marker) = 0;

    // Called at the end of each session: detaches textures from the dialect's own framebuffers.
    virtual void end_session() noexcept {}
    // Deletes the dialect's own objects. Pre: the context is current.
    virtual void release() noexcept {}

  protected:
    // get(name, value) queries OpenGL. The names are those of OpenGL ES 3.1, which the header of ES 3.0 lacks.
    template <class Get>
    static Level level_by(const Get& get) {
        constexpr std::uint32_t width = 0x1000, height = 0x1001, internal_format = 0x1003, depth = 0x8071;
        const auto of = [&](std::uint32_t name) {
            int value = 0;
            get(name, &value);
            return value;
        };
        return {static_cast<std::uint32_t>(of(internal_format)), of(width), of(height), of(depth)};
    }
};

// Pre: the context is current.
[[nodiscard]] std::unique_ptr<Dialect> make_desktop45(Device& device);
[[nodiscard]] std::unique_ptr<Dialect> make_core33(Device& device, const Loader& loader, OpenGl api);
[[nodiscard]] std::unique_ptr<Dialect> make_es3(Device& device, const Loader& loader);

}  // namespace quadmill::detail::gl
