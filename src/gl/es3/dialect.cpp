// OpenGL ES 3.0 to 3.2.
#include <quadmill_glad/gles30.h>

#include "gl/core33/by_binding.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill::detail::gl {

namespace {

class Es3 final : public ByBinding<QuadmillGLES30Context> {
  public:
    Es3(Device& device, const QuadmillGLES30Context& gl) : ByBinding(device, gl, GL_ANY_SAMPLES_PASSED) {}

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
    bool is_lost() override { return gl_.KHR_robustness && gl_.GetGraphicsResetStatusKHR() != GL_NO_ERROR; }
};

}  // namespace

std::unique_ptr<Dialect> make_es3(Device& device, const Loader& loader) {
    QuadmillGLES30Context gl{};
    if (!quadmill_gladLoadGLES30ContextUserPtr(&gl, loader.load, loader.user))
        throw ContextError("the functions of OpenGL ES 3.0 could not be loaded");
    return std::make_unique<Es3>(device, gl);
}

}  // namespace quadmill::detail::gl
