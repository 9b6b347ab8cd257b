// OpenGL ES 3.0 to 3.2.
#include <quadmill_glad/gles30.h>

#include "gl/core33/by_binding.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill::detail::gl {

namespace {

class Es3 final : public ByBinding<QuadmillGLES30Context> {
  public:
    Es3(Device& device, const QuadmillGLES30Context& gl, const Loader& loader)
        : ByBinding(device, gl, GL_ANY_SAMPLES_PASSED) {
        GLint major = 0, minor = 0;
        gl.GetIntegerv(GL_MAJOR_VERSION, &major);
        gl.GetIntegerv(GL_MINOR_VERSION, &minor);
        if (10 * major + minor < 31) return;
        get_level_ = reinterpret_cast<GetLevel>(loader.load(loader.user, "glGetTexLevelParameteriv"));
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
    std::optional<std::uint64_t> note_time(Id query) override {
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
    std::optional<Level> level_of(Id texture, std::uint32_t target) override {
        if (!get_level_) return std::nullopt;
        bind_to_first_unit(target, texture);
        const GLenum plane = target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : target;
        return level_by([&](GLenum name, GLint* value) { get_level_(plane, 0, name, value); });
    }
    bool is_lost() override { return gl_.KHR_robustness && gl_.GetGraphicsResetStatusKHR() != GL_NO_ERROR; }

  private:
    using GetLevel = void (*)(GLenum target, GLint level, GLenum name, GLint* value);
    GetLevel get_level_ = nullptr;  // available from OpenGL ES 3.1
};

}  // namespace

std::unique_ptr<Dialect> make_es3(Device& device, const Loader& loader) {
    QuadmillGLES30Context gl{};
    if (!quadmill_gladLoadGLES30ContextUserPtr(&gl, loader.load, loader.user))
        throw ContextError("the functions of OpenGL ES 3.0 could not be loaded");
    return std::make_unique<Es3>(device, gl, loader);
}

}  // namespace quadmill::detail::gl
