#include "gl/objects.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill::detail::gl {

void destroy_object(Device& device, void (*destroy)(const Api&, GLuint), GLuint id) noexcept {
    device.destroy([=](const Api& gl) { destroy(gl, id); });
}

void TextureTraits::destroy(const Api& gl, std::uint32_t id) {
    gl.DeleteTextures(1, &id);
}
void FramebufferTraits::destroy(const Api& gl, std::uint32_t id) {
    gl.DeleteFramebuffers(1, &id);
}
void ProgramTraits::destroy(const Api& gl, std::uint32_t id) {
    gl.DeleteProgram(id);
}
void ShaderTraits::destroy(const Api& gl, std::uint32_t id) {
    gl.DeleteShader(id);
}
void BufferTraits::destroy(const Api& gl, std::uint32_t id) {
    gl.DeleteBuffers(1, &id);
}
void VertexArrayTraits::destroy(const Api& gl, std::uint32_t id) {
    gl.DeleteVertexArrays(1, &id);
}
void QueryTraits::destroy(const Api& gl, std::uint32_t id) {
    gl.DeleteQueries(1, &id);
}

namespace {

// Makes one object by the glCreate* function given.
template <class Traits, class Create>
Handle<Traits> make(Device& device, Create create) {
    GLuint id = 0;
    create(id);
    return Handle<Traits>(device.shared_from_this(), id);
}

constexpr std::array<FormatInfo, 20> formats{
    {{GL_RGBA32F, GL_RGBA, GL_FLOAT, 16, "RGBA32F"},
     {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8, "RGBA16F"},
     {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16, "RGBA32UI"},
     {GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 8, "RGBA16UI"},
     {GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8, "RG32UI"},
     {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 4, "R32UI"},
     {GL_R32I, GL_RED_INTEGER, GL_INT, 4, "R32I"},
     {GL_RG32F, GL_RG, GL_FLOAT, 8, "RG32F"},
     {GL_R32F, GL_RED, GL_FLOAT, 4, "R32F"},
     {GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT, 4, "DEPTH_COMPONENT32F"},
     {GL_STENCIL_INDEX8, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, 1, "STENCIL_INDEX8"},
     {GL_DEPTH32F_STENCIL8, GL_DEPTH_STENCIL, GL_FLOAT_32_UNSIGNED_INT_24_8_REV, 8, "DEPTH32F_STENCIL8"},
     {GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 2, "R16UI"},
     {GL_R16F, GL_RED, GL_HALF_FLOAT, 2, "R16F"},
     {GL_R16, GL_RED, GL_UNSIGNED_SHORT, 2, "R16"},
     {GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, "R8"},
     {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, "RGBA8"},
     {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, 2, "DEPTH_COMPONENT16"},
     {GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4, "DEPTH_COMPONENT24"},
     {GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 4, "DEPTH24_STENCIL8"}}};
}  // namespace

const FormatInfo& info(Format format) {
    return formats.at(static_cast<std::size_t>(format));
}

Format format_of(std::string_view name) {
    const auto* const found = std::ranges::find(formats, name, &FormatInfo::name);
    if (found == formats.end()) throw InvalidArgument("no texture format is named '" + std::string(name) + "'");
    return static_cast<Format>(found - formats.begin());
}

Texture::Texture(Device& device, Format format, int width, int height, int layers)
    : handle_(make<TextureTraits>(
          device,
          [&](GLuint& id) { device.gl.CreateTextures(layers > 0 ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D, 1, &id); })),
      format_(format),
      width_(width),
      height_(height),
      layers_(layers) {
    const auto& gl = device.gl;
    gl.TextureParameteri(id(), GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.TextureParameteri(id(), GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    // Shaders see the stencil of such a texture; its depth is for tests alone.
    if (format == Format::Depth32fStencil8) gl.TextureParameteri(id(), GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
    if (layers > 0) {
        gl.TextureStorage3D(id(), 1, info(format).internal, width, height, layers);
    } else {
        gl.TextureStorage2D(id(), 1, info(format).internal, width, height);
    }
    device.check("Texture", std::string(info(format).name) + " of " + std::to_string(width) + " x " +
                                std::to_string(height) + (layers > 0 ? " x " + std::to_string(layers) : "") +
                                " texels (" + std::to_string(bytes()) + " bytes)");
    tally_ = Tally(device.texture_bytes, bytes());
}

Texture::Texture(Device& device, GLuint id, Format format, int width, int height)
    : handle_(Handle<TextureTraits>::wrap(device.shared_from_this(), id)),
      format_(format),
      width_(width),
      height_(height) {}

Framebuffer::Framebuffer(Device& device, const Texture& color, const Texture* depth_or_stencil)
    : handle_(make<FramebufferTraits>(device, [&](GLuint& id) { device.gl.CreateFramebuffers(1, &id); })),
      texture_(color.id()),
      format_(color.format()),
      width_(color.width()),
      height_(color.height()),
      targets_(std::max(color.layers(), 1)) {
    const auto& gl = device.gl;
    if (depth_or_stencil) attach(device, *depth_or_stencil);
    if (color.layers() == 0) {
        gl.NamedFramebufferTexture(id(), GL_COLOR_ATTACHMENT0, color.id(), 0);
    } else {
        std::array<GLenum, draw_buffers> attachments{};
        const auto layers = static_cast<std::size_t>(color.layers());
        for (std::size_t i = 0; i < layers; ++i) {
            attachments.at(i) = GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(i);
            gl.NamedFramebufferTextureLayer(id(), attachments[i], color.id(), 0, static_cast<GLint>(i));
        }
        gl.NamedFramebufferDrawBuffers(id(), color.layers(), attachments.data());
    }
    check(device, info(color.format()).name +
                      (depth_or_stencil ? std::string(" with ") + info(depth_or_stencil->format()).name : ""));
}

Framebuffer::Framebuffer(Device& device, NoColor /*no_color*/, const Texture& depth_and_stencil)
    : handle_(make<FramebufferTraits>(device, [&](GLuint& id) { device.gl.CreateFramebuffers(1, &id); })),
      texture_(depth_and_stencil.id()),
      format_(depth_and_stencil.format()),
      width_(depth_and_stencil.width()),
      height_(depth_and_stencil.height()) {
    attach(device, depth_and_stencil);
    device.gl.NamedFramebufferDrawBuffer(id(), GL_NONE);
    check(device, info(format_).name);
}

void Framebuffer::attach(Device& device, const Texture& depth_or_stencil) const {
    const auto format = depth_or_stencil.format();
    const auto where = format == Format::Depth32f   ? GL_DEPTH_ATTACHMENT
                       : format == Format::Stencil8 ? GL_STENCIL_ATTACHMENT
                                                    : GL_DEPTH_STENCIL_ATTACHMENT;
    device.gl.NamedFramebufferTexture(id(), static_cast<GLenum>(where), depth_or_stencil.id(), 0);
}

void Framebuffer::check(Device& device, const std::string& formats) const {
    if (device.gl.CheckNamedFramebufferStatus(id(), GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) return;
    throw GlError("Framebuffer: the driver cannot render to " + formats + " of " + std::to_string(width_) + " x " +
                  std::to_string(height_) + " texels");
}

Program::Program(Device& device, const char* name, const char* fragment, const std::string& prelude)
    : Program(device, name, {shaders::pass_quad_vert, fragment}, prelude) {}

Program::Program(Device& device, const char* name, Shaders sources, const std::string& prelude)
    : device_(device.shared_from_this()),
      linked_(&device.programs.get(device, name, {sources.vertex, sources.fragment, prelude})) {}

std::uint32_t Program::id() const noexcept {
    return linked_->id;
}

int Program::target_size() const noexcept {
    return linked_->target_size;
}

int Program::location(std::string_view uniform) const {
    const auto& uniforms = linked_->uniforms;
    const auto found = std::ranges::lower_bound(uniforms, uniform, {}, &std::pair<std::string, int>::first);
    if (found != uniforms.end() && found->first == uniform) return found->second;
    throw GlError("program " + linked_->name + " has no uniform '" + std::string(uniform) + "'");
}

Buffer::Buffer(Device& device, std::span<const std::byte> content)
    : handle_(make<BufferTraits>(device, [&](GLuint& id) { device.gl.CreateBuffers(1, &id); })) {
    device.gl.NamedBufferStorage(id(), static_cast<GLsizeiptr>(content.size()), content.data(), 0);
    device.check("Buffer", std::to_string(content.size()) + " bytes");
}

PixelBuffer::PixelBuffer(Device& device, Direction direction, std::size_t bytes)
    : handle_(make<BufferTraits>(device, [&](GLuint& id) { device.gl.CreateBuffers(1, &id); })) {
    const auto& gl = device.gl;
    const GLbitfield access = (direction == Direction::Upload ? GL_MAP_WRITE_BIT : GL_MAP_READ_BIT) |
                              GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    const auto size = static_cast<GLsizeiptr>(bytes);
    const auto what = std::to_string(bytes) + " bytes of mapped memory";
    gl.NamedBufferStorage(id(), size, nullptr, access | GL_CLIENT_STORAGE_BIT);
    device.check("PixelBuffer", what);
    auto* memory = static_cast<std::byte*>(gl.MapNamedBufferRange(id(), 0, size, access));
    device.check("PixelBuffer", what);
    if (!memory) throw GlError("PixelBuffer: the driver did not map " + what);
    memory_ = {memory, bytes};
    tally_ = Tally(device.staging_bytes, bytes);
}

Query::Query(Device& device, Kind kind)
    : handle_(make<QueryTraits>(device, [&](GLuint& id) {
          device.gl.CreateQueries(kind == Kind::Samples ? GL_SAMPLES_PASSED : GL_TIMESTAMP, 1, &id);
      })) {}

void Query::note_time() const {
    handle_.device().gl.QueryCounter(id(), GL_TIMESTAMP);
}

bool Query::ready() const {
    GLuint available = GL_FALSE;
    handle_.device().gl.GetQueryObjectuiv(id(), GL_QUERY_RESULT_AVAILABLE, &available);
    return available != GL_FALSE;
}

std::uint64_t Query::result() const {
    GLuint64 value = 0;
    handle_.device().gl.GetQueryObjectui64v(id(), GL_QUERY_RESULT, &value);
    return value;
}

CountList::CountList(Device& device, std::size_t size)
    : size_(size),
      buffer_(make<BufferTraits>(device, [&](GLuint& id) { device.gl.CreateBuffers(1, &id); })),
      texture_(make<TextureTraits>(device, [&](GLuint& id) { device.gl.CreateTextures(GL_TEXTURE_BUFFER, 1, &id); })) {
    const auto& gl = device.gl;
    gl.NamedBufferStorage(buffer_.id(), static_cast<GLsizeiptr>(size * sizeof(GLuint)), nullptr,
                          GL_DYNAMIC_STORAGE_BIT);
    gl.TextureBuffer(texture_.id(), GL_R32UI, buffer_.id());
    device.check("CountList", std::to_string(size) + " counts");
}

void CountList::note(std::size_t i, const Query& query) const {
    buffer_.device().gl.GetQueryBufferObjectuiv(query.id(), buffer_.id(), GL_QUERY_RESULT,
                                                static_cast<GLintptr>(i * sizeof(GLuint)));
    if (buffer_.device().features.works_around(Workaround::CountsByBarrier))
        buffer_.device().gl.MemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_QUERY_BUFFER_BARRIER_BIT);
}

std::vector<std::uint32_t> CountList::read() const {
    std::vector<std::uint32_t> counts(size_);
    buffer_.device().gl.GetNamedBufferSubData(buffer_.id(), 0, static_cast<GLsizeiptr>(size_ * sizeof(GLuint)),
                                              counts.data());
    return counts;
}

double ms_between(const Query& from, const Query& to) {
    return (static_cast<double>(to.result()) - static_cast<double>(from.result())) * 1e-6;
}

Fence::Fence(Device& device)
    : device_(device.shared_from_this()), sync_(device.gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)) {}

Fence::Fence(Fence&& other) noexcept : device_(std::move(other.device_)), sync_(std::exchange(other.sync_, nullptr)) {}

Fence& Fence::operator=(Fence&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(sync_, other.sync_);
    return *this;
}

Fence::~Fence() {
    if (sync_) device_->destroy([sync = sync_](const Api& gl) { gl.DeleteSync(static_cast<GLsync>(sync)); });
}

bool Fence::passed() {
    if (!sync_) return true;
    const auto state = device_->gl.ClientWaitSync(static_cast<GLsync>(sync_), GL_SYNC_FLUSH_COMMANDS_BIT, 0);
    return state != GL_TIMEOUT_EXPIRED;  // what has failed wait() tells
}

void Fence::wait() {
    if (!sync_) return;
    const auto& gl = device_->gl;
    constexpr GLuint64 second = 1'000'000'000;
    GLenum state = GL_TIMEOUT_EXPIRED;
    while (state == GL_TIMEOUT_EXPIRED) {
        state = gl.ClientWaitSync(static_cast<GLsync>(sync_), GL_SYNC_FLUSH_COMMANDS_BIT, second);
        if (state == GL_WAIT_FAILED || gl.GetGraphicsResetStatus() != GL_NO_ERROR) {
            device_->check("Fence");
            throw GlError("Fence: waiting for the GPU failed; the context is lost");
        }
    }
    gl.DeleteSync(static_cast<GLsync>(std::exchange(sync_, nullptr)));
}

}  // namespace quadmill::detail::gl
