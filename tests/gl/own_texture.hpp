// A texture that a test makes with its own OpenGL calls, like an application.
#pragma once

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "quadmill/context.hpp"

namespace quadmill::test {

class HostTexture {
  public:
    HostTexture(Context& context, GLenum format, int width, int height) : gl_(detail::Access::of(context)->gl) {
        context.make_current();
        gl_.CreateTextures(GL_TEXTURE_2D, 1, &id_);
        gl_.TextureStorage2D(id_, 1, format, width, height);
    }
    HostTexture(const HostTexture&) = delete;
    HostTexture& operator=(const HostTexture&) = delete;
    ~HostTexture() { gl_.DeleteTextures(1, &id_); }
    [[nodiscard]] GLuint id() const { return id_; }

  private:
    const detail::gl::Api& gl_;
    GLuint id_ = 0;
};

}  // namespace quadmill::test
