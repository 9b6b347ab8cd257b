// What replaces EGL and the operating system's part where there is neither: in a page, and in the kernel, which only
// work in an adopted context.
#include "gl/egl.hpp"
#include "gl/system.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

struct EglApi {};

EglContext::EglContext(const HeadlessOptions& /*options*/, OpenGl api) : wanted_(api) {
    throw ContextError("this build has no EGL; adopt a context");
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
// The version of a build that has only one; otherwise an adopted context says its version itself.
#if !defined(QUADMILL_ONLY_OPENGL)
#define QUADMILL_ONLY_OPENGL Best
#endif
OpenGl api_from_environment() {
    return OpenGl::QUADMILL_ONLY_OPENGL;
}

std::optional<std::size_t> free_memory() {
    return {};
}
void keep_source(const char* /*name*/, const char* /*suffix*/, const std::string& /*text*/) {}

}  // namespace quadmill::detail::gl
