// OpenGL 3.3 to 4.4.
#include <quadmill_glad/gl33.h>

#include "gl/core33/by_binding.hpp"
#include "pass_shaders.hpp"

namespace quadmill::detail::gl {

namespace {

class Core33 final : public ByBinding<QuadmillGL33Context> {
  public:
    Core33(Device& device, const QuadmillGL33Context& gl, OpenGl api)
        : ByBinding(device, gl, GL_SAMPLES_PASSED), api_(api) {}

    [[nodiscard]] std::string shader_header() const override {
        if (api_ == OpenGl::Desktop41) return "#version 410 core\n";
        return std::string("#version 330 core\n") + shaders::pass_older_glsl_glsl;
    }
    bool begin_condition(Id query) override {
        gl_.BeginConditionalRender(query, GL_QUERY_WAIT);
        return true;
    }
    void end_condition() noexcept override { gl_.EndConditionalRender(); }
    std::optional<std::uint64_t> take_time(Id query) override {
        gl_.QueryCounter(query, GL_TIMESTAMP);
        return std::nullopt;
    }
    std::uint64_t result(Id query, Query::Kind kind) override {
        if (kind == Query::Kind::Samples) return ByBinding::result(query, kind);
        GLuint64 value = 0;
        gl_.GetQueryObjectui64v(query, GL_QUERY_RESULT, &value);
        return value;
    }
    std::uint64_t gpu_time() override {
        GLint64 now = 0;
        gl_.GetInteger64v(GL_TIMESTAMP, &now);
        return static_cast<std::uint64_t>(now);
    }
    Level level_of(Id texture, std::uint32_t target) override {
        bind_to_first_unit(target, texture);
        const GLenum plane = target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : target;
        return level_by([&](GLenum name, GLint* value) { gl_.GetTexLevelParameteriv(plane, 0, name, value); });
    }
    bool is_lost() override { return gl_.KHR_robustness && gl_.GetGraphicsResetStatus() != GL_NO_ERROR; }
    void end_session() noexcept override {
        if (clamped_ && *clamped_ != GL_FIXED_ONLY) gl_.ClampColor(GL_CLAMP_READ_COLOR, *clamped_);
        clamped_.reset();
        ByBinding::end_session();
    }

  private:
    // Core from OpenGL 4.2 on.
    void allocate(GLenum target, const FormatInfo& its, int width, int height, int layers) override {
        if (gl_.ARB_texture_storage) return ByBinding::allocate(target, its, width, height, layers);
        const auto internal = static_cast<GLint>(its.internal);
        if (layers > 0) {
            gl_.TexImage3D(target, 0, internal, width, height, layers, 0, its.format, its.type, nullptr);
        } else {
            gl_.TexImage2D(target, 0, internal, width, height, 0, its.format, its.type, nullptr);
        }
    }
    // GL_FIXED_ONLY never clamps floats. With GL_FALSE, NVIDIA's driver converts halves on the CPU: NaNs change, and
    // reading takes some 50 times as long.
    void do_not_clamp() override {
        if (clamped_) return;
        GLint before = 0;
        gl_.GetIntegerv(GL_CLAMP_READ_COLOR, &before);
        clamped_ = static_cast<GLenum>(before);
        if (*clamped_ != GL_FIXED_ONLY) gl_.ClampColor(GL_CLAMP_READ_COLOR, GL_FIXED_ONLY);
    }

    OpenGl api_;
    std::optional<GLenum> clamped_;  // the application's choice, since the first read of the session
};

}  // namespace

std::unique_ptr<Dialect> make_core33(Device& device, const Loader& loader, OpenGl api) {
    QuadmillGL33Context gl{};
    if (!quadmill_gladLoadGL33ContextUserPtr(&gl, loader.load, loader.user))
        throw ContextError("the functions of OpenGL 3.3 could not be loaded");
    return std::make_unique<Core33>(device, gl, api);
}

}  // namespace quadmill::detail::gl
