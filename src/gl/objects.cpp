#include "gl/objects.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/pixels.hpp"
#include "pass_shaders.hpp"
#include "quadmill/error.hpp"

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

template <class Traits>
Handle<Traits> handle(Device& device, std::uint32_t id) {
    return Handle<Traits>(device.shared_from_this(), id);
}

constexpr std::array<FormatInfo, 43> formats{
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
     {GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 4, "DEPTH24_STENCIL8"},
     {GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8, "RGBA16"},
     {GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4, "RGB10_A2"},
     {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, "SRGB8_ALPHA8"},
     {GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, 16, "RGBA32I"},
     {GL_RGBA16I, GL_RGBA_INTEGER, GL_SHORT, 8, "RGBA16I"},
     {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4, "RGBA8UI"},
     {GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE, 4, "RGBA8I"},
     {GL_RGB32F, GL_RGB, GL_FLOAT, 12, "RGB32F"},
     {GL_RGB16F, GL_RGB, GL_HALF_FLOAT, 6, "RGB16F"},
     {GL_R11F_G11F_B10F, GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, 4, "R11F_G11F_B10F"},
     {GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3, "RGB8"},
     {GL_SRGB8, GL_RGB, GL_UNSIGNED_BYTE, 3, "SRGB8"},
     {GL_RG16, GL_RG, GL_UNSIGNED_SHORT, 4, "RG16"},
     {GL_RG16F, GL_RG, GL_HALF_FLOAT, 4, "RG16F"},
     {GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2, "RG8"},
     {GL_RG32I, GL_RG_INTEGER, GL_INT, 8, "RG32I"},
     {GL_RG16UI, GL_RG_INTEGER, GL_UNSIGNED_SHORT, 4, "RG16UI"},
     {GL_RG16I, GL_RG_INTEGER, GL_SHORT, 4, "RG16I"},
     {GL_RG8UI, GL_RG_INTEGER, GL_UNSIGNED_BYTE, 2, "RG8UI"},
     {GL_RG8I, GL_RG_INTEGER, GL_BYTE, 2, "RG8I"},
     {GL_R16I, GL_RED_INTEGER, GL_SHORT, 2, "R16I"},
     {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1, "R8UI"},
     {GL_R8I, GL_RED_INTEGER, GL_BYTE, 1, "R8I"}}};
}  // namespace

int FormatInfo::channels() const {
    switch (format) {
        case GL_RGBA:
        case GL_RGBA_INTEGER:
            return 4;
        case GL_RGB:
            return 3;
        case GL_RG:
        case GL_RG_INTEGER:
            return 2;
        default:
            return 1;
    }
}

Sampled FormatInfo::sampled() const {
    if (format != GL_RED_INTEGER && format != GL_RG_INTEGER && format != GL_RGBA_INTEGER) return Sampled::Floats;
    const bool is_signed = type == GL_BYTE || type == GL_SHORT || type == GL_INT;
    return is_signed ? Sampled::SignedIntegers : Sampled::UnsignedIntegers;
}

const FormatInfo& info(Format format) {
    return formats.at(static_cast<std::size_t>(format));
}

Sampled sampled_from(std::uint32_t internal) {
    const auto* const found = std::ranges::find(formats, internal, &FormatInfo::internal);
    return found == formats.end() ? Sampled::Floats : found->sampled();
}

Format format_of(std::string_view name) {
    const auto* const found = std::ranges::find(formats, name, &FormatInfo::name);
    if (found == formats.end()) throw InvalidArgument("no texture format is named '" + std::string(name) + "'");
    return static_cast<Format>(found - formats.begin());
}

Texture::Texture(Device& device, Format format, int width, int height, int layers)
    : handle_(handle<TextureTraits>(device, device.dialect->make_texture(format, width, height, layers))),
      format_(format),
      width_(width),
      height_(height),
      layers_(layers) {
    device.check("Texture", std::string(info(format).name) + " of " + std::to_string(width) + " x " +
                                std::to_string(height) + (layers > 0 ? " x " + std::to_string(layers) : "") +
                                " texels (" + std::to_string(bytes()) + " bytes)");
    tally_ = Tally(device.texture_bytes, bytes());
}

Texture::Texture(Device& device, GLuint id, Format format, int width, int height, int layers)
    : handle_(Handle<TextureTraits>::wrap(device.shared_from_this(), id)),
      format_(format),
      width_(width),
      height_(height),
      layers_(layers) {}

Framebuffer::Framebuffer(Device& device, const Texture& color, const Texture* depth_or_stencil)
    : texture_(color.id()),
      format_(color.format()),
      width_(color.width()),
      height_(color.height()),
      layers_(color.layers()) {
    make(device, &color, depth_or_stencil);
}

Framebuffer::Framebuffer(Device& device, NoColor /*no_color*/, const Texture& depth_and_stencil)
    : texture_(depth_and_stencil.id()),
      format_(depth_and_stencil.format()),
      width_(depth_and_stencil.width()),
      height_(depth_and_stencil.height()) {
    make(device, nullptr, &depth_and_stencil);
}

void Framebuffer::make(Device& device, const Texture* color, const Texture* depth_or_stencil) {
    Dialect::Attachments attachments;
    std::string names;
    if (color) {
        attachments.color = color->id();
        attachments.layers = color->layers();
        names = info(color->format()).name;
    }
    if (depth_or_stencil) {
        attachments.depth_or_stencil = depth_or_stencil->id();
        attachments.format = depth_or_stencil->format();
        names += (color ? " with " : "") + std::string(info(attachments.format).name);
    }
    const auto [id, is_complete] = device.dialect->make_framebuffer(attachments);
    handle_ = handle<FramebufferTraits>(device, id);
    if (is_complete) return;
    throw GlError("Framebuffer: the driver cannot render to " + names + " of " + std::to_string(width_) + " x " +
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
    : handle_(handle<BufferTraits>(device, device.dialect->make_buffer(content))) {
    device.check("Buffer", std::to_string(content.size()) + " bytes");
}

PixelBuffer::PixelBuffer(Device& device, Direction direction, std::size_t bytes) : bytes_(bytes) {
    const auto staging = device.dialect->make_staging(direction, bytes);
    handle_ = handle<BufferTraits>(device, staging.id);
    memory_ = staging.memory;
    device.check("PixelBuffer", std::to_string(bytes) + " bytes of memory for transfers");
    if (direction == Direction::Upload && memory_.empty()) {
        own_.resize(bytes);
        memory_ = own_;
    }
    is_mapped_for_good_ = !memory_.empty();
    tally_ = Tally(device.staging_bytes, bytes);
}

void PixelBuffer::arrive() {
    if (memory_.empty() && bytes_ > 0) memory_ = handle_.device().dialect->map(id(), bytes_);
}

void PixelBuffer::depart() {
    if (is_mapped_for_good_ || memory_.empty()) return;
    handle_.device().dialect->unmap(id());
    memory_ = {};
}

Query::Query(Device& device, Kind kind)
    : kind_(kind), handle_(handle<QueryTraits>(device, device.dialect->make_query(kind))) {}

void Query::take_time() const {
    noted_ = true;
    time_ = handle_.device().dialect->take_time(id());
}

bool Query::ready() const {
    if (time_ || is_unnoted()) return true;
    GLuint available = GL_FALSE;
    handle_.device().gl.GetQueryObjectuiv(id(), GL_QUERY_RESULT_AVAILABLE, &available);
    return available != GL_FALSE;
}

std::uint64_t Query::result() const {
    if (is_unnoted()) return 0;
    return time_ ? *time_ : handle_.device().dialect->result(id(), kind_);
}

CountList::CountList(Device& device, std::size_t size)
    : size_(size), texture_(device, Format::R32ui, static_cast<int>(size), 1), counts_(size) {
    buffer_ = handle<BufferTraits>(device, device.dialect->make_buffer(std::as_bytes(std::span(counts_))));
    device.check("CountList", std::to_string(size) + " counts");
}

void CountList::note(std::size_t i, const Query& query) {
    auto& dialect = *buffer_.device().dialect;
    if (!dialect.count_to_buffer(query.id(), buffer_.id(), i * sizeof counts_[i]))
        counts_[i] = static_cast<std::uint32_t>(query.result());
    dialect.send_rows({buffer_.id(), std::as_writable_bytes(std::span(counts_))}, 0, RowsOf(texture_, 0, 1));
}

std::vector<std::uint32_t> CountList::read() const {
    auto counts = counts_;
    buffer_.device().dialect->read_counts(buffer_.id(), counts);
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
    return state != GL_TIMEOUT_EXPIRED;  // a failure is reported by wait()
}

void Fence::wait() {
    if (!sync_) return;
    const auto& gl = device_->gl;
    constexpr GLuint64 second = 1'000'000'000;
    GLenum state = GL_TIMEOUT_EXPIRED;
    while (state == GL_TIMEOUT_EXPIRED) {
        state = gl.ClientWaitSync(static_cast<GLsync>(sync_), GL_SYNC_FLUSH_COMMANDS_BIT, second);
        if (state == GL_WAIT_FAILED || device_->dialect->is_lost()) {
            device_->check("Fence");
            throw GlError("Fence: waiting for the GPU failed; the context is lost");
        }
    }
    gl.DeleteSync(static_cast<GLsync>(std::exchange(sync_, nullptr)));
}

}  // namespace quadmill::detail::gl
