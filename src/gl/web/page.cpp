// What replaces identity and saved state in a page: web/package/gl.js has one context for each module, and saves and
// restores the page's state itself. ../bare.cpp replaces EGL and the system.
#include <algorithm>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/egl.hpp"
#include "gl/identity.hpp"
#include "gl/state_guard.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

ContextIdentity::ContextIdentity(Dialect& /*dialect*/) {}
ContextIdentity::Current ContextIdentity::current(const Api& /*gl*/, Dialect& /*dialect*/) const noexcept {
    return Current::Same;
}
void ContextIdentity::remove_marker(const Api& /*gl*/) const noexcept {}
bool is_context_current() {
    return true;
}
Context::GetProcAddress current_loader() {
    return nullptr;
}

void HostState::save(const Api& /*gl*/, const Features& /*features*/) {}
void HostState::save_stencil(const Api& /*gl*/, const Features& /*features*/) {}
void HostState::save_blend_factors(const Api& /*gl*/, const Features& /*features*/) {}
void HostState::restore(const Api& /*gl*/, const Features& /*features*/) const noexcept {}
void HostState::release(const Api& /*gl*/) const noexcept {}
void ExtensionState::set_baseline(const Api& /*gl*/) const {}

// gl.js sets the rest: rows of pixels without gaps, and extensions.
void set_baseline(const Api& gl, const Features& /*features*/) {
    for (const GLenum capability :
         {GL_BLEND, GL_CULL_FACE, GL_DEPTH_TEST, GL_DITHER, GL_POLYGON_OFFSET_FILL, GL_RASTERIZER_DISCARD,
          GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE, GL_SCISSOR_TEST, GL_STENCIL_TEST})
        gl.Disable(capability);
    gl.ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

std::unique_ptr<Dialect> make_desktop45(Device& /*device*/) {
    return nullptr;
}
std::unique_ptr<Dialect> make_core33(Device& /*device*/, const Loader& /*loader*/, OpenGl /*api*/) {
    return nullptr;
}

}  // namespace quadmill::detail::gl
