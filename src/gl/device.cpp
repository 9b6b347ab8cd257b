#include "gl/device.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "gl/api.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

constexpr const char* in_primitive = "the OpenGL context that is current answers nothing, as between glBegin and glEnd";

const char* error_name(GLenum error) {
    switch (error) {
        case GL_INVALID_ENUM:
            return "GL_INVALID_ENUM";
        case GL_INVALID_VALUE:
            return "GL_INVALID_VALUE";
        case GL_INVALID_OPERATION:
            return "GL_INVALID_OPERATION";
        case GL_INVALID_FRAMEBUFFER_OPERATION:
            return "GL_INVALID_FRAMEBUFFER_OPERATION";
        case GL_OUT_OF_MEMORY:
            return "GL_OUT_OF_MEMORY";
        case GL_CONTEXT_LOST:
            return "GL_CONTEXT_LOST";
        default:
            return "an unknown GL error";
    }
}

// Says what to ask the usual makers of contexts for.
void require_version(const Api& gl, const std::string& version) {
    const bool embedded = version.starts_with("OpenGL ES");
    if (gl.VERSION_4_5 && !embedded) return;
    const auto ask = [&](const char* of_gles, const char* of_both) {
        return std::string(embedded ? of_gles : "") + of_both;
    };
    throw ContextError(
        "quadmill needs OpenGL 4.5 (any profile), and this context is '" + version +
        "'. Before the context is made: with GLFW, " +
        ask("glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_API), ",
            "glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4) and (GLFW_CONTEXT_VERSION_MINOR, 5); with SDL, ") +
        ask("SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE), ",
            "SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 4) and (SDL_GL_CONTEXT_MINOR_VERSION, 5); with Qt, ") +
        ask("QSurfaceFormat::setRenderableType(QSurfaceFormat::OpenGL), ",
            "QSurfaceFormat::setVersion(4, 5) on the default format, before the QApplication; with GTK, ") +
        ask("gtk_gl_area_set_allowed_apis(area, GDK_GL_API_GL) (before GTK 4.12: gtk_gl_area_set_use_es(area, "
            "FALSE)), ",
            "gtk_gl_area_set_required_version(area, 4, 5); raylib has no call for it: 4 and 5 in its "
            "rcore_desktop_glfw.c"));
}

// Without errors, a driver that runs out of memory or refuses a call would not say so, and probes could not be made.
void require_errors(const Api& gl) {
    GLint flags = 0;
    gl.GetIntegerv(GL_CONTEXT_FLAGS, &flags);
    if ((static_cast<GLuint>(flags) & GLuint{GL_CONTEXT_FLAG_NO_ERROR_BIT}) == 0) return;
    throw ContextError(
        "quadmill needs a context that reports errors, and this one was made without (KHR_no_error); make it without "
        "EGL_CONTEXT_OPENGL_NO_ERROR_KHR, GLX_CONTEXT_OPENGL_NO_ERROR_ARB or GLFW_CONTEXT_NO_ERROR, and unset "
        "MESA_NO_ERROR");
}

void GLAD_API_PTR forward_debug_message(GLenum, GLenum, GLuint, GLenum, GLsizei length, const GLchar* text,
                                        const void* user) {
    const auto& device = *static_cast<const Device*>(user);
    device.on_debug_message(length >= 0 ? std::string_view(text, static_cast<std::size_t>(length))
                                        : std::string_view(text));
}

}  // namespace

Device::Device(const HeadlessOptions& options)
    : api_(std::make_shared<Api>()),
      gl(*api_),
      on_debug_message(options.on_debug_message),
      egl(std::make_unique<EglContext>(options)) {
    const auto previous = egl->make_current();
    try {
        load({[](void* user, const char* name) { return static_cast<EglContext*>(user)->proc_address(name); },
              egl.get()});
    } catch (...) {
        egl->restore(previous);
        throw;
    }
    info.platform = egl->platform();
    info.surface = egl->surface();
    if (on_debug_message) {
        gl.Enable(GL_DEBUG_OUTPUT);
        gl.Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
        gl.DebugMessageCallback(forward_debug_message, this);
    }
    egl->restore(previous);
}

Device::Device(const Loader& loader) : api_(std::make_shared<Api>()), gl(*api_) {
    note_use();
    load(loader);
    identity_.emplace(gl);
}

Device::~Device() {
    if (!process_.is_here()) {  // the context is the parent's
        static_cast<void>(egl.release());
        return;
    }
    if (!identity_ || !is_within_reach()) return;  // a context of its own takes all with it
    destroy_what_waits();
    programs.release(gl);
    host_.release(gl);
    identity_->remove_marker(gl);
}

void Device::destroy_what_waits() noexcept {
    for (const auto& destroy : destroy_later_) destroy(gl);
    destroy_later_.clear();
}

void Device::make_current() {
    require_here();
    if (egl) egl->make_current();
}

void Device::require_here() const {
    if (process_.is_here()) return;
    throw ContextError(
        "this OpenGL context belongs to the process that this one was forked from, and drivers do not work across a "
        "fork; " +
        std::string(fork_hint));
}

void Device::require_current() const {
    require_here();
    using Current = ContextIdentity::Current;
    const auto current = identity_ ? identity_->current(gl) : Current::Same;
    if (current == Current::Same) return;
    if (current == Current::Primitive)
        throw InvalidArgument(std::string(in_primitive) + "; make the call outside of it");
    throw InvalidArgument(
        std::string(current == Current::None
                        ? "no OpenGL context is current on this thread"
                        : "another OpenGL context is current on this thread than the one that Context::adopt took") +
        "; make that one current before the call");
}

void Device::load(const Loader& loader) {
    // glad passes the user pointer through, so the loader needs no global.
    if (!quadmill_gladLoadGLContextUserPtr(&gl, loader.load, loader.user)) {
        if (egl) throw ContextError("the OpenGL functions could not be loaded through eglGetProcAddress");
        if (is_context_current() && loader.load(loader.user, "glGetString"))
            throw ContextError(std::string("Context::adopt: ") + in_primitive + ", or it is lost");
        throw ContextError(loader.load(loader.user, "glGetString")
                               ? "Context::adopt: no OpenGL context is current on this thread; make yours current first"
                               : "Context::adopt: get_proc_address does not know glGetString; give the function that "
                                 "loads OpenGL functions for your context, such as glfwGetProcAddress");
    }
    const auto text = [&](GLenum what) {
        const auto* word = gl.GetString(what);
        return std::string(word ? reinterpret_cast<const char*>(word) : "");
    };
    info.version = text(GL_VERSION);
    require_version(gl, info.version);
    require_errors(gl);
    info.renderer = text(GL_RENDERER);
    info.vendor = text(GL_VENDOR);
    info.shading_language = text(GL_SHADING_LANGUAGE_VERSION);
    info.platform = "adopted";
    info.surface = "the caller's";
    for (const char* name : {"llvmpipe", "softpipe", "SwiftShader"}) {
        info.software = info.software || info.renderer.find(name) != std::string::npos;
    }
    gl.GetIntegerv(GL_MAX_TEXTURE_SIZE, &info.max_texture_size);
    gl.GetIntegerv(GL_MAX_ARRAY_TEXTURE_LAYERS, &info.max_array_layers);
    gl.GetIntegerv(GL_MAX_DRAW_BUFFERS, &info.max_draw_buffers);
    std::array<GLint, 2> viewport{};
    gl.GetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport.data());
    info.max_viewport_width = viewport[0];
    info.max_viewport_height = viewport[1];
    if (gl.EXT_depth_bounds_test) info.optional_extensions.emplace_back("GL_EXT_depth_bounds_test");
    if (gl.ARB_shader_clock) info.optional_extensions.emplace_back("GL_ARB_shader_clock");
    if (gl.NV_fill_rectangle) info.optional_extensions.emplace_back("GL_NV_fill_rectangle");
    if (gl.NVX_gpu_memory_info) info.optional_extensions.emplace_back("GL_NVX_gpu_memory_info");
    if (gl.ATI_meminfo) info.optional_extensions.emplace_back("GL_ATI_meminfo");
    if (gl.KHR_robustness) info.optional_extensions.emplace_back("GL_KHR_robustness");
    GLint strategy = GL_NO_RESET_NOTIFICATION;
    gl.GetIntegerv(GL_RESET_NOTIFICATION_STRATEGY, &strategy);
    info.robust = strategy == GL_LOSE_CONTEXT_ON_RESET;
    features = Features::of(gl, info);
}

void Device::enter() {
    require_current();
    EglContext::Binding previous;
    if (egl) previous = egl->make_current();
    const bool first = previous_.empty();
    try {
        previous_.push_back(previous);
        if (first) host_.save(gl, features);
    } catch (...) {
        if (first) previous_.clear();
        if (egl) egl->restore(previous);
        throw;
    }
    if (!first) return;
    destroy_what_waits();
    set_baseline(gl, features);
    host_.set_extension_baseline(gl);
    pipeline = {};
}

void Device::leave() noexcept {
    if (!process_.is_here()) return;
    const auto previous = previous_.back();
    previous_.pop_back();
    try {
        if (egl) egl->make_current();  // a session of another context may have begun since
    } catch (const ContextError&) {
        return;  // another thread has taken the context, and its state with it
    }
    if (previous_.empty() && is_within_reach()) {
        pipeline.end_condition(gl);
        host_.restore(gl);
    }
    if (egl) egl->restore(previous);
}

void Device::check(std::string_view where, std::string_view what) const {
    const auto error = gl.GetError();
    if (error == GL_NO_ERROR) return;
    while (gl.GetError() != GL_NO_ERROR && error != GL_CONTEXT_LOST) {
    }
    std::string message(where);
    if (!what.empty()) message += ": " + std::string(what);
    if (error == GL_OUT_OF_MEMORY) {
        message += ": out of GPU memory";
    } else {
        message += ": the driver reported " + std::string(error_name(error));
    }
    if (gl.GetGraphicsResetStatus() != GL_NO_ERROR) message += "; the GPU was reset and the context is lost";
    throw GlError(message + " (" + info.renderer + ")");
}

}  // namespace quadmill::detail::gl
