// OpenGL objects that free themselves. Each shares ownership of the device. None changes the application's bindings.
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

// The only RAII template here. A default-constructed or moved-from handle is empty (id 0).
template <class Traits>
class Handle {
  public:
    Handle() = default;
    Handle(std::shared_ptr<Device> device, std::uint32_t id) : device_(std::move(device)), id_(id), owned_(true) {}
    // A handle that does not own its object: for objects of the application.
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

// Adds bytes to a device's count of bytes in use for the life of this object. The object that holds it keeps the device
// alive.
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
    Depth24Stencil8,
    // Formats that only textures of the application have.
    Rgba16,
    Rgb10A2,
    Srgb8Alpha8,
    Rgba32i,
    Rgba16i,
    Rgba8ui,
    Rgba8i,
    Rgb32f,
    Rgb16f,
    R11fG11fB10f,
    Rgb8,
    Srgb8,
    Rg16,
    Rg16f,
    Rg8,
    Rg32i,
    Rg16ui,
    Rg16i,
    Rg8ui,
    Rg8i,
    R16i,
    R8ui,
    R8i
};

// What a sampler reads from a texel.
enum class Sampled { Floats, SignedIntegers, UnsignedIntegers };

struct FormatInfo {
    std::uint32_t internal, format, type;
    std::size_t bytes;  // of one texel
    const char* name;
    [[nodiscard]] int channels() const;
    [[nodiscard]] Sampled sampled() const;
};
[[nodiscard]] const FormatInfo& info(Format format);
// What samplers read from textures with that internal format of OpenGL. Returns Floats for a format that is not listed.
[[nodiscard]] Sampled sampled_from(std::uint32_t internal);
// The format with that name; throws InvalidArgument if there is none.
[[nodiscard]] Format format_of(std::string_view name);

// A 2-D texture of one level, or a 2-D array texture of `layers` layers, read without filtering.
class Texture {
  public:
    Texture() = default;
    // Throws GlError with the size and the bytes if the GPU has no room.
    Texture(Device& device, Format format, int width, int height, int layers = 0);
    // A texture of the application, not owned.
    Texture(Device& device, std::uint32_t id, Format format, int width, int height, int layers = 0);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    [[nodiscard]] Format format() const noexcept { return format_; }
    [[nodiscard]] int width() const noexcept { return width_; }
    [[nodiscard]] int height() const noexcept { return height_; }
    [[nodiscard]] int layers() const noexcept { return layers_; }  // 0 if it is not an array texture
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

// Renders to one texture, or to all layers of an array texture (layer i is render target i). Can have a texture of the
// same size for depth or stencil tests.
class Framebuffer {
  public:
    Framebuffer() = default;
    Framebuffer(Device& device, const Texture& color, const Texture* depth_or_stencil = nullptr);
    // Depth and stencil only; no colour is written.
    struct NoColor {};
    Framebuffer(Device& device, NoColor no_color, const Texture& depth_and_stencil);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    [[nodiscard]] std::uint32_t texture() const noexcept { return texture_; }
    [[nodiscard]] Format format() const noexcept { return format_; }
    [[nodiscard]] int width() const noexcept { return width_; }
    [[nodiscard]] int height() const noexcept { return height_; }
    [[nodiscard]] int layers() const noexcept { return layers_; }  // 0 if it is not an array texture
    [[nodiscard]] int targets() const noexcept { return layers_ > 0 ? layers_ : 1; }

  private:
    void make(Device& device, const Texture* color, const Texture* depth_or_stencil);

    Handle<FramebufferTraits> handle_;
    std::uint32_t texture_ = 0;
    Format format_ = Format::Rgba32f;
    int width_ = 0, height_ = 0, layers_ = 0;
};

// A fragment shader, linked with shaders/pass/quad.vert or with a vertex shader of its own. The version line is put
// before each source. Programs with equal sources are compiled once and kept by the device (program_store.hpp).
class Program {
  public:
    struct Shaders {
        const char *vertex, *fragment;
    };
    Program() = default;
    // `name` goes into error messages. Samplers named `textureN` read unit N. `prelude` goes before the source: macros,
    // and code that several shaders share.
    Program(Device& device, const char* name, const char* fragment, const std::string& prelude = {});
    Program(Device& device, const char* name, Shaders shaders, const std::string& prelude = {});
    [[nodiscard]] std::uint32_t id() const noexcept;
    // Location of the uniform; -1 if the shaders declare it but no result depends on it. OpenGL ignores values for
    // location -1.
    // Throws GlError if the shaders do not declare a uniform of that name, which is a fault of the library.
    [[nodiscard]] int location(std::string_view uniform) const;
    [[nodiscard]] int target_size() const noexcept;

  private:
    std::shared_ptr<Device> device_;  // the device that keeps the program
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

// Memory for transfers. To upload: fill the bytes of write(), then call upload_rows(). To read back: call read_rows(),
// wait for a Fence, call arrive(), then receive(). (OpenGL 4.5 keeps the memory mapped; other versions copy.)
class PixelBuffer {
  public:
    enum class Direction { Upload, ReadBack };
    PixelBuffer() = default;
    PixelBuffer(Device& device, Direction direction, std::size_t bytes);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
    // Memory to fill before the next upload of these bytes. Several threads may fill it.
    [[nodiscard]] std::span<std::byte> write(std::size_t offset, std::size_t bytes) const {
        return memory_.subspan(offset, bytes);
    }
    // Call it on the thread of the context after the wait for what was read.
    void arrive();
    // Call it before more is read into this buffer.
    void depart();
    // The bytes that were read back; valid until the next read_rows() into this buffer. Any thread may call it.
    [[nodiscard]] std::span<const std::byte> receive(std::size_t offset, std::size_t bytes) const {
        return memory_.subspan(offset, bytes);
    }
    [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }

  private:
    Handle<BufferTraits> handle_;
    std::size_t bytes_ = 0;
    std::span<std::byte> memory_;
    std::vector<std::byte> own_;  // used if the driver cannot map the memory
    bool is_mapped_for_good_ = false;
    Tally tally_;
};

// Counts samples (a Pass begins and ends it) or records the GPU's time.
class Query {
  public:
    enum class Kind { Samples, Timestamp };
    Query() = default;
    Query(Device& device, Kind kind);
    [[nodiscard]] std::uint32_t id() const noexcept { return handle_.id(); }
    void take_time() const;                      // Timestamp only: makes the GPU write its time here
    [[nodiscard]] bool ready() const;            // does not wait
    [[nodiscard]] std::uint64_t result() const;  // waits for the GPU; nanoseconds or samples

  private:
    Kind kind_ = Kind::Samples;
    Handle<QueryTraits> handle_;
    [[nodiscard]] bool is_unnoted() const noexcept { return kind_ == Kind::Timestamp && !noted_; }
    mutable std::optional<std::uint64_t> time_;  // used if the GPU has no clock
    mutable bool noted_ = false;
};

// Counts of samples from queries, for shaders to read: count i is texel i of a row of R32UI.
class CountList {
  public:
    CountList() = default;
    CountList(Device& device, std::size_t size);
    [[nodiscard]] const Texture& texture() const noexcept { return texture_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Writes the query's count to index i. The GPU does that when it knows the count. If the version of OpenGL has no
    // such call, the CPU waits for the count and writes it.
    void note(std::size_t i, const Query& query);
    [[nodiscard]] std::vector<std::uint32_t> read() const;  // waits for the GPU

  private:
    std::size_t size_ = 0;
    Handle<BufferTraits> buffer_;
    Texture texture_;
    std::vector<std::uint32_t> counts_;  // used if the CPU writes them
};

// Milliseconds between two times that the GPU wrote. Waits for it.
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
    // Returns when the GPU has passed the point; immediately if no point was set. Throws GlError if the context is
    // lost.
    void wait();
    // Whether the GPU has reported that it passed the point. Does not wait.
    [[nodiscard]] bool passed();

  private:
    std::shared_ptr<Device> device_;
    void* sync_ = nullptr;
};

}  // namespace quadmill::detail::gl
