#include "gl/identity.hpp"

#include <dlfcn.h>
#include <quadmill_glad/egl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "gl/api.hpp"
#include "gl/dialect.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

// A function of a library that the program has already loaded. Loaders such as eglGetProcAddress will not do: they
// return a pointer for any name, even if there is no such function.
template <class Function>
Function loaded(std::initializer_list<const char*> libraries, const char* name) {
    void* symbol = dlsym(RTLD_DEFAULT, name);
    for (const char* library : libraries) {
        if (symbol) break;
        if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) symbol = dlsym(handle, name);
    }
    Function function = nullptr;
    std::memcpy(&function, &symbol, sizeof symbol);
    return function;
}

// Like loaded(), and remembers the function once it is found. Until then each call looks again: a program may load the
// library later.
template <class Function>
Function loaded_once(std::atomic<Function>& kept, std::initializer_list<const char*> libraries, const char* name) {
    auto function = kept.load(std::memory_order_relaxed);
    if (!function) kept.store(function = loaded<Function>(libraries, name), std::memory_order_relaxed);
    return function;
}

// EGL answers for the client API that the thread is bound to, which may not be OpenGL.
void* egl_context() {
    static std::atomic<PFNEGLGETCURRENTCONTEXTPROC> kept_get{nullptr};
    static std::atomic<PFNEGLQUERYAPIPROC> kept_query{nullptr};
    static std::atomic<PFNEGLBINDAPIPROC> kept_bind{nullptr};
    const auto get = loaded_once(kept_get, {"libEGL.so.1"}, "eglGetCurrentContext");
    const auto query_api = loaded_once(kept_query, {"libEGL.so.1"}, "eglQueryAPI");
    const auto bind_api = loaded_once(kept_bind, {"libEGL.so.1"}, "eglBindAPI");
    if (!get || !query_api || !bind_api) return nullptr;
    const auto api = query_api();
    void* context = nullptr;
    for (const EGLenum of : {EGLenum{EGL_OPENGL_API}, EGLenum{EGL_OPENGL_ES_API}}) {
        if (context) break;
        bind_api(of);
        context = get();
    }
    bind_api(api);
    return context;
}

// Xlib's headers are not included: a Display* is passed as a pointer, and a GLXDrawable as an unsigned long.
template <class Function>
Function glx(const char* name) {
    return loaded<Function>({"libGLX.so.0", "libGL.so.1"}, name);
}

void* glx_context() {
    static std::atomic<void* (*)()> kept_get{nullptr};
    const auto get = loaded_once(kept_get, {"libGLX.so.0", "libGL.so.1"}, "glXGetCurrentContext");
    return get ? get() : nullptr;
}

int make_glx_current(void* display, unsigned long draw, unsigned long read, void* context) {
    const auto make = glx<int (*)(void*, unsigned long, unsigned long, void*)>("glXMakeContextCurrent");
    return make ? make(display, draw, read, context) : 0;
}

}  // namespace

GlxBinding release_glx() {
    GlxBinding binding;
    binding.context = glx_context();
    if (!binding.context) return binding;
    const auto display = glx<void* (*)()>("glXGetCurrentDisplay");
    const auto draw = glx<unsigned long (*)()>("glXGetCurrentDrawable");
    const auto read = glx<unsigned long (*)()>("glXGetCurrentReadDrawable");
    if (display && draw && read) {
        binding.display = display();
        binding.draw = draw();
        binding.read = read();
        if (make_glx_current(binding.display, 0, 0, nullptr)) return binding;
    }
    throw ContextError(
        "a GLX context is current on this thread, where no headless context can be current at the same time, and GLX "
        "does not release it; release it first (glXMakeCurrent(display, None, NULL)), call from another thread, or "
        "work in that context: Context::adopt()");
}

void restore_glx(const GlxBinding& released) noexcept {
    if (released.context)
        static_cast<void>(make_glx_current(released.display, released.draw, released.read, released.context));
}

ContextIdentity::ContextIdentity(Dialect& dialect) {
    for (const Ask ask : {Ask{egl_context}, Ask{glx_context}}) {
        if (handle_) break;
        ask_ = ask;
        handle_ = ask();
    }
    if (!handle_) ask_ = nullptr;
    // The address and the time of creation. No other object, living or dead, has both.
    const auto here = reinterpret_cast<std::uintptr_t>(this) / alignof(ContextIdentity);
    const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    constexpr std::uint64_t max = 0x7fffffff;  // the largest value that a signed getter returns
    mark_ = {static_cast<GLint>(here & max), static_cast<GLint>(now & max)};
    marker_ = dialect.make_marker(mark_);
}

ContextIdentity::Current ContextIdentity::current(const Api& gl, Dialect& dialect) const noexcept {
    if (ask_) {
        const void* now = ask_();
        if (now != handle_) return now ? Current::Another : Current::None;
    } else if (!gl.GetString(GL_VERSION)) {
        return Current::None;
    }
    std::array<GLint, 2> found{};
    if (gl.IsVertexArray(marker_)) found = dialect.read_marker(marker_);
    // A lost context returns nothing.
    if (found == mark_ || dialect.is_lost()) return Current::Same;
    return ask_ && !gl.GetString(GL_VERSION) ? Current::Primitive : Current::Another;
}

void ContextIdentity::remove_marker(const Api& gl) const noexcept {
    gl.DeleteVertexArrays(1, &marker_);
}

bool is_context_current() {
    return egl_context() || glx_context();
}

Context::GetProcAddress current_loader() {
    if (egl_context()) return loaded<Context::GetProcAddress>({"libEGL.so.1"}, "eglGetProcAddress");
    if (glx_context()) return loaded<Context::GetProcAddress>({"libGLX.so.0", "libGL.so.1"}, "glXGetProcAddressARB");
    return nullptr;
}

}  // namespace quadmill::detail::gl
