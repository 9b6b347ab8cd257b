// What replaces EGL, identity and saved state in a page: web/package/gl.js has one context for each module, and saves
// and restores the page's state itself.
#include <algorithm>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/egl.hpp"
#include "gl/identity.hpp"
#include "gl/state_guard.hpp"
#include "gl/system.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

struct EglApi {};

EglContext::EglContext(const HeadlessOptions& /*options*/, OpenGl api) : wanted_(api) {
    throw ContextError("a page has no EGL; adopt the WebGL2 context of a canvas");
}
EglContext::~EglContext() = default;
EglContext::Binding EglContext::make_current() {
    return {};
}
void EglContext::restore(const Binding& /*previous*/) noexcept {}
void (*EglContext::proc_address(const char* /*name*/) const)() {
    return nullptr;
}
std::vector<DeviceInfo> egl_devices() {
    return {};
}
void note_use() noexcept {}
OpenGl api_from_environment() {
    return OpenGl::Es3;
}

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

std::optional<std::size_t> free_memory() {
    return {};
}
void keep_source(const char* /*name*/, const char* /*suffix*/, const std::string& /*text*/) {}

std::unique_ptr<Dialect> make_desktop45(Device& /*device*/) {
    return nullptr;
}
std::unique_ptr<Dialect> make_core33(Device& /*device*/, const Loader& /*loader*/, OpenGl /*api*/) {
    return nullptr;
}

}  // namespace quadmill::detail::gl
