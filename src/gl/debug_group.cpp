#include "gl/debug_group.hpp"

#include "gl/api.hpp"

namespace quadmill::detail::gl {

namespace {

void GLAD_API_PTR ignore(GLenum, GLenum, GLuint, GLenum, GLsizei, const GLchar*, const void*) {}

// Calls `change` without messages: otherwise the application's debug callback would get one for each group. NVIDIA's
// driver sent them also while messages were disabled, so another callback takes them.
template <class Change>
void in_silence(const Api& gl, const Change& change) {
    const bool messages = gl.IsEnabled(GL_DEBUG_OUTPUT) != GL_FALSE;
    void *callback = nullptr, *user = nullptr;
    gl.GetPointerv(GL_DEBUG_CALLBACK_FUNCTION, &callback);
    gl.GetPointerv(GL_DEBUG_CALLBACK_USER_PARAM, &user);
    if (messages) gl.Disable(GL_DEBUG_OUTPUT);
    gl.DebugMessageCallback(ignore, nullptr);
    change();
    gl.DebugMessageCallback(reinterpret_cast<GLDEBUGPROC>(callback), user);
    if (messages) gl.Enable(GL_DEBUG_OUTPUT);
}

bool has_room(const Api& gl) {
    GLint depth = 0, max = 0;
    gl.GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &depth);
    gl.GetIntegerv(GL_MAX_DEBUG_GROUP_STACK_DEPTH, &max);
    return depth < max;
}

}  // namespace

DebugGroup::DebugGroup(const Api& gl, const Features& features, std::string_view name) {
    if (!features.debug_groups || name.empty() || !has_room(gl)) return;
    in_silence(
        gl, [&] { gl.PushDebugGroup(GL_DEBUG_SOURCE_THIRD_PARTY, 0, static_cast<GLsizei>(name.size()), name.data()); });
    gl_ = &gl;
}

DebugGroup::~DebugGroup() {
    if (gl_) in_silence(*gl_, [this] { gl_->PopDebugGroup(); });
}

}  // namespace quadmill::detail::gl
