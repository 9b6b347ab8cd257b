// OpenGL objects that free themselves. Each holds the device alive; none changes the host's bindings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gl/api_fwd.hpp"

namespace quadmill::detail::gl {

class Device;
struct LinkedProgram;
void destroy_object(Device& device, void (*destroy)(const Api&, std::uint32_t), std::uint32_t id) noexcept;

// The one RAII template. A default-made or moved-from handle is empty (id 0).
template <class Traits>
class Handle {
  public:
    Handle() = default;
    Handle(std::shared_ptr<Device> device, std::uint32_t id) : device_(std::move(device)), id_(id), owned_(true) {}
    // A handle that does not own: for objects of the host.
    static Handle wrap(std::shared_ptr<Device> device, std::uint32_t id) {
        Handle handle(std::move(device), id);
        handle.owned_ = false;
        return handle;
    }
    Handle(Handle&& other) noexcept
        : device_(std::move(other.device_)), id_(std::exchange(other.id_, 0)), owned_(other.owned_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(id_, other.id_);
        std::swap(owned_, other.owned_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (id_ && owned_) destroy_object(*device_, &Traits::destroy, id_);
    }
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] std::uint32_t release() noexcept { return std::exchange(id_, 0); }
    [[nodiscard]] Device& device() const noexcept { return *device_; }
    explicit operator bool() const noexcept { return id_ != 0; }

  private:
    std::shared_ptr<Device> device_;
    std::uint32_t id_ = 0;
    bool owned_ = false;
};

struct TextureTraits {
    static void destroy(const Api& gl, std::uint32_t id);
};
struct FramebufferTraits {
    static void destroy(const Api& gl, std::uint32_t id);
};
struct ProgramTraits {
    static void destroy(const Api& gl, std::uint32_t id);
};
struct ShaderTraits {
    static void destroy(const Api& gl, std::uint32_t id);
};
struct BufferTraits {
    static void destroy(const Api& gl, std::uint32_t id);
};
struct VertexArrayTraits {
    static void destroy(const Api& gl, std::uint32_t id);
};
struct QueryTraits {
    static void destroy(const Api& gl, std::uint32_t id);
};

// Counts bytes as in use by a device, for as long as it lives. The object that holds it keeps the device alive.
class Tally {
  public:
    Tally() = default;
    Tally(std::size_t& total, std::size_t bytes) : total_(&total), bytes_(bytes) { total += bytes; }
    Tally(Tally&& other) noexcept : total_(std::exchange(other.total_, nullptr)), bytes_(other.bytes_) {}
    Tally& operator=(Tally&& other) noexcept {
        std::swap(total_, other.total_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;
    ~Tally() {
        if (total_) *total_ -= bytes_;
    }

  private:
    std::size_t* total_ = nullptr;
    std::size_t bytes_ = 0;
};

enum class Format {
    Rgba32f,
    Rgba16f,
    Rgba32ui,
    Rgba16ui,
    Rg32ui,
    R32ui,
    R32i,
    Rg32f,
    R32f,
    Depth32f,
    Stencil8,
    Depth32fStencil8,
    R16ui,
    R16f,
    R16,
    R8,
    Rgba8,
    Depth16,
    Depth24,
    Depth24Stencil8
};

struct FormatInfo {
    std::uint32_t internal, format, type;
    std::size_t bytes;  // of one texel
    const char* name;
};
[[nodiscard]] const FormatInfo& info(Format format);
// The format of that name; throws InvalidArgument when there is none.
[[nodiscard]] Format format_of(std::string_view name);

// A 2-D texture of one level, or a 2-D array texture of `layers` layers, read without filtering.
class Texture {
  public:
    Texture() = default;
    // Throws GlError, naming the size and the bytes, when the GPU has no room.
    Texture(Device& device, Format format, int width, int height, int layers = 0);
    // A texture of the host, not owned.
    Texture(Device& device, std::uint32_t id, Format format, int width, int height, int layers = 0);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    [[nodiscard]] Format format() const noexcept { return format_; }
    [[nodiscard]] int width() const noexcept { return width_; }
    [[nodiscard]] int height() const noexcept { return height_; }
    [[nodiscard]] int layers() const noexcept { return layers_; }  // 0: no array texture
    [[nodiscard]] std::size_t bytes() const noexcept {
        return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) *
               static_cast<std::size_t>(layers_ > 0 ? layers_ : 1) * info(format_).bytes;
    }
    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  private:
    Handle<TextureTraits> handle_;
    Format format_ = Format::Rgba32f;
    int width_ = 0, height_ = 0, layers_ = 0;
    Tally tally_;
};

// Renders to one texture, or to all layers of an array texture at once, layer i being render target i; tests against a
// depth or stencil texture of the same size where there is one.
class Framebuffer {
  public:
    Framebuffer() = default;
    Framebuffer(Device& device, const Texture& color, const Texture* depth_or_stencil = nullptr);
    // Depth and stencil alone; nothing is written to a colour.
    struct NoColor {};
    Framebuffer(Device& device, NoColor no_color, const Texture& depth_and_stencil);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    [[nodiscard]] std::uint32_t texture() const noexcept { return texture_; }
    [[nodiscard]] Format format() const noexcept { return format_; }
    [[nodiscard]] int width() const noexcept { return width_; }
    [[nodiscard]] int height() const noexcept { return height_; }
    [[nodiscard]] int targets() const noexcept { return targets_; }

  private:
    void make(Device& device, const Texture* color, const Texture* depth_or_stencil);

    Handle<FramebufferTraits> handle_;
    std::uint32_t texture_ = 0;
    Format format_ = Format::Rgba32f;
    int width_ = 0, height_ = 0, targets_ = 1;
};

// A fragment shader, linked with shaders/pass/quad.vert or a vertex shader of its own. The version line is put before
// each source. Programs of the same sources are one, which the device keeps (program_store.hpp).
class Program {
  public:
    struct Shaders {
        const char *vertex, *fragment;
    };
    Program() = default;
    // `name` goes into error messages. Samplers named `textureN` read unit N. `prelude` goes before the source: macros,
    // and files that several shaders share.
    Program(Device& device, const char* name, const char* fragment, const std::string& prelude = {});
    Program(Device& device, const char* name, Shaders shaders, const std::string& prelude = {});
    [[nodiscard]] std::uint32_t id() const noexcept;
    // Where the uniform is; -1 when the shaders declare it, but no result depends on it: such a location takes values and
    // does nothing.
    // Throws GlError when they declare no uniform of that name: a mistake of the library.
    [[nodiscard]] int location(std::string_view uniform) const;
    [[nodiscard]] int target_size() const noexcept;

  private:
    std::shared_ptr<Device> device_;  // which has it
    const LinkedProgram* linked_ = nullptr;
};

class Buffer {
  public:
    Buffer() = default;
    Buffer(Device& device, std::span<const std::byte> content);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }

  private:
    Handle<BufferTraits> handle_;
};

// Memory for transfers. To send: write what write() gives, then upload_rows(). To receive: read_rows(), a Fence, and
// when that has been waited for, arrive(), then receive(). (OpenGL 4.5 maps the memory for as long as it lives; other
// versions copy.)
class PixelBuffer {
  public:
    enum class Direction { Upload, ReadBack };
    PixelBuffer() = default;
    PixelBuffer(Device& device, Direction direction, std::size_t bytes);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
    // To be filled before the next upload of these bytes; by several threads, if need be.
    [[nodiscard]] std::span<std::byte> write(std::size_t offset, std::size_t bytes) const {
        return memory_.subspan(offset, bytes);
    }
    // To be called by the thread of the context when all that was read has been waited for.
    void arrive();
    // To be called before more is read into it.
    void depart();
    // As they were read back; valid until the next read_rows() into this. Any thread may call it.
    [[nodiscard]] std::span<const std::byte> receive(std::size_t offset, std::size_t bytes) const {
        return memory_.subspan(offset, bytes);
    }
    [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }

  private:
    Handle<BufferTraits> handle_;
    std::size_t bytes_ = 0;
    std::span<std::byte> memory_;
    std::vector<std::byte> own_;  // where the driver gives none to write to
    bool is_mapped_for_good_ = false;
    Tally tally_;
};

// Counts samples (begin .. end by a Pass) or notes the GPU's time.
class Query {
  public:
    enum class Kind { Samples, Timestamp };
    Query() = default;
    Query(Device& device, Kind kind);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    void note_time() const;                      // Timestamp only: the GPU writes its time here
    [[nodiscard]] bool ready() const;            // does not wait
    [[nodiscard]] std::uint64_t result() const;  // waits for the GPU; nanoseconds or samples

  private:
    Kind kind_ = Kind::Samples;
    Handle<QueryTraits> handle_;
    [[nodiscard]] bool is_unnoted() const noexcept { return kind_ == Kind::Timestamp && !noted_; }
    mutable std::optional<std::uint64_t> time_;  // where the GPU has no clock
    mutable bool noted_ = false;
};

// Numbers of samples that queries counted, for shaders to read: texel i of a row of R32UI.
class CountList {
  public:
    CountList() = default;
    CountList(Device& device, std::size_t size);
    [[nodiscard]] const Texture& texture() const noexcept { return texture_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Writes what the query counted to place i: by the GPU when it is known, or where the version of OpenGL has no such
    // call, by the CPU, which waits for it.
    void note(std::size_t i, const Query& query);
    [[nodiscard]] std::vector<std::uint32_t> read() const;  // waits for the GPU

  private:
    std::size_t size_ = 0;
    Handle<BufferTraits> buffer_;
    Texture texture_;
    std::vector<std::uint32_t> counts_;  // where the CPU writes them
};

// Between two times that the GPU wrote; waits for it.
[[nodiscard]] double ms_between(const Query& from, const Query& to);

// A point in the command stream.
class Fence {
  public:
    Fence() = default;
    explicit Fence(Device& device);
    Fence(Fence&& other) noexcept;
    Fence& operator=(Fence&& other) noexcept;
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    ~Fence();
    // Returns when the GPU has passed the point; at once if there is none. Throws GlError when the context is lost.
    void wait();
    // Whether the GPU has passed the point, as far as it has told; does not wait for it.
    [[nodiscard]] bool passed();

  private:
    std::shared_ptr<Device> device_;
    void* sync_ = nullptr;
};

}  // namespace quadmill::detail::gl
