// OpenGL ES 3.0 to 3.2.
#include <quadmill_glad/gles30.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "gl/core33/by_binding.hpp"
#include "gl/extensions.hpp"
#include "pass_shaders.hpp"

namespace quadmill::detail::gl {

namespace {

// Type and bits of red, green, blue, alpha, depth and stencil.
using Channels = std::array<std::uint16_t, 7>;
struct KnownFormat {
    std::uint16_t internal;
    Channels channels;
};
constexpr std::array<KnownFormat, 36> formats{{{GL_RGBA32F, {GL_FLOAT, 32, 32, 32, 32}},
                                               {GL_RGBA16F, {GL_FLOAT, 16, 16, 16, 16}},
                                               {GL_RGBA32UI, {GL_UNSIGNED_INT, 32, 32, 32, 32}},
                                               {GL_RGBA16UI, {GL_UNSIGNED_INT, 16, 16, 16, 16}},
                                               {GL_RG32UI, {GL_UNSIGNED_INT, 32, 32}},
                                               {GL_R32UI, {GL_UNSIGNED_INT, 32}},
                                               {GL_R32I, {GL_INT, 32}},
                                               {GL_RG32F, {GL_FLOAT, 32, 32}},
                                               {GL_R32F, {GL_FLOAT, 32}},
                                               {GL_R16UI, {GL_UNSIGNED_INT, 16}},
                                               {GL_R16F, {GL_FLOAT, 16}},
                                               {GL_R8, {GL_UNSIGNED_NORMALIZED, 8}},
                                               {GL_RGBA8, {GL_UNSIGNED_NORMALIZED, 8, 8, 8, 8}},
                                               {GL_DEPTH_COMPONENT32F, {GL_FLOAT, 0, 0, 0, 0, 32}},
                                               {GL_DEPTH_COMPONENT16, {GL_UNSIGNED_NORMALIZED, 0, 0, 0, 0, 16}},
                                               {GL_DEPTH_COMPONENT24, {GL_UNSIGNED_NORMALIZED, 0, 0, 0, 0, 24}},
                                               {GL_DEPTH24_STENCIL8, {GL_UNSIGNED_NORMALIZED, 0, 0, 0, 0, 24, 8}},
                                               {GL_RGB10_A2, {GL_UNSIGNED_NORMALIZED, 10, 10, 10, 2}},
                                               {GL_RGBA32I, {GL_INT, 32, 32, 32, 32}},
                                               {GL_RGBA16I, {GL_INT, 16, 16, 16, 16}},
                                               {GL_RGBA8UI, {GL_UNSIGNED_INT, 8, 8, 8, 8}},
                                               {GL_RGBA8I, {GL_INT, 8, 8, 8, 8}},
                                               {GL_RGB32F, {GL_FLOAT, 32, 32, 32}},
                                               {GL_RGB16F, {GL_FLOAT, 16, 16, 16}},
                                               {GL_R11F_G11F_B10F, {GL_FLOAT, 11, 11, 10}},
                                               {GL_RGB8, {GL_UNSIGNED_NORMALIZED, 8, 8, 8}},
                                               {GL_RG16F, {GL_FLOAT, 16, 16}},
                                               {GL_RG8, {GL_UNSIGNED_NORMALIZED, 8, 8}},
                                               {GL_RG32I, {GL_INT, 32, 32}},
                                               {GL_RG16UI, {GL_UNSIGNED_INT, 16, 16}},
                                               {GL_RG16I, {GL_INT, 16, 16}},
                                               {GL_RG8UI, {GL_UNSIGNED_INT, 8, 8}},
                                               {GL_RG8I, {GL_INT, 8, 8}},
                                               {GL_R16I, {GL_INT, 16}},
                                               {GL_R8UI, {GL_UNSIGNED_INT, 8}},
                                               {GL_R8I, {GL_INT, 8}}}};

class Es3 final : public ByBinding<QuadmillGLES30Context> {
  public:
    Es3(Device& device, const QuadmillGLES30Context& gl, const Loader& loader)
        : ByBinding(device, gl, GL_ANY_SAMPLES_PASSED) {
        GLint major = 0, minor = 0;
        gl.GetIntegerv(GL_MAJOR_VERSION, &major);
        gl.GetIntegerv(GL_MINOR_VERSION, &minor);
        const bool has_angle = has_extension(device.gl, "GL_ANGLE_get_tex_level_parameter");
        const char* const name = 10 * major + minor >= 31 ? "glGetTexLevelParameteriv"
                                 : has_angle              ? "glGetTexLevelParameterivANGLE"
                                                          : nullptr;
        if (name) get_level_ = reinterpret_cast<GetLevel>(loader.load(loader.user, name));
    }

    [[nodiscard]] std::string shader_header() const override {
        return "#version 300 es\n"
               "precision highp float;\n"
               "precision highp int;\n"
               "precision highp sampler2D;\n"
               "precision highp usampler2D;\n"
               "precision highp isampler2D;\n"
               "precision highp sampler2DArray;\n"
               "precision highp usampler2DArray;\n" +
               std::string(shaders::pass_older_glsl_glsl);
    }
    std::optional<std::uint64_t> take_time(Id query) override {
        if (!gl_.EXT_disjoint_timer_query) return 0;
        gl_.QueryCounterEXT(query, GL_TIMESTAMP_EXT);
        return std::nullopt;
    }
    std::uint64_t result(Id query, Query::Kind kind) override {
        if (kind == Query::Kind::Samples) return ByBinding::result(query, kind);
        GLuint64 value = 0;
        gl_.GetQueryObjectui64vEXT(query, GL_QUERY_RESULT, &value);
        return value;
    }
    std::uint64_t gpu_time() override {
        GLint64 now = 0;
        if (gl_.EXT_disjoint_timer_query) gl_.GetInteger64v(GL_TIMESTAMP_EXT, &now);
        return static_cast<std::uint64_t>(now);
    }
    Level level_of(Id texture, std::uint32_t target) override {
        if (!get_level_) return level_by_channels(texture, target);
        bind_to_first_unit(target, texture);
        const GLenum plane = target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : target;
        return level_by([&](GLenum name, GLint* value) { get_level_(plane, 0, name, value); });
    }
    bool is_lost() override { return gl_.KHR_robustness && gl_.GetGraphicsResetStatusKHR() != GL_NO_ERROR; }

  private:
    // Without sizes. The format is 0 if no known one has these channels.
    Level level_by_channels(Id texture, std::uint32_t target) {
        attach(GL_READ_FRAMEBUFFER, {texture, target, 0, 0, 0}, Format::R32ui);
        const auto get = [&](GLenum name) {
            GLint value = 0;
            gl_.GetFramebufferAttachmentParameteriv(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, &value);
            return static_cast<std::uint16_t>(value);
        };
        const Channels found{get(GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE), get(GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE),
                             get(GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE),     get(GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE),
                             get(GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE),     get(GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE),
                             get(GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE)};
        if (std::ranges::count(found, 0) >= 6) return {0, 0, 0, 0};  // no channel
        const auto* const known = std::ranges::find(formats, found, &KnownFormat::channels);
        GLenum internal = known == formats.end() ? 0 : known->internal;
        if (get(GL_FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING) == GL_SRGB)
            internal = internal == GL_RGBA8 ? GL_SRGB8_ALPHA8 : internal == GL_RGB8 ? GL_SRGB8 : 0;
        return {internal, Level::unknown, Level::unknown, Level::unknown};
    }

    using GetLevel = void (*)(GLenum target, GLint level, GLenum name, GLint* value);
    GetLevel get_level_ = nullptr;  // available from OpenGL ES 3.1, or as an extension
};

}  // namespace

std::unique_ptr<Dialect> make_es3(Device& device, const Loader& loader) {
    QuadmillGLES30Context gl{};
    if (!quadmill_gladLoadGLES30ContextUserPtr(&gl, loader.load, loader.user))
        throw ContextError("the functions of OpenGL ES 3.0 could not be loaded");
    return std::make_unique<Es3>(device, gl, loader);
}

}  // namespace quadmill::detail::gl
