#include "gl/device.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "gl/api.hpp"
#include "gl/extensions.hpp"
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

// The message says which version to ask for in the usual libraries that create contexts.
[[noreturn]] void refuse_version(const std::string& version) {
    throw ContextError(
        "quadmill needs OpenGL 3.3 or OpenGL ES 3.0, or later, and this context is '" + version +
        "'. Before the context is made: with GLFW, glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3) and "
        "(GLFW_CONTEXT_VERSION_MINOR, 3); with SDL, SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3) and "
        "(SDL_GL_CONTEXT_MINOR_VERSION, 3); with Qt, QSurfaceFormat::setVersion(3, 3) on the default format, before "
        "the QApplication; with GTK, gtk_gl_area_set_required_version(area, 3, 3); for other toolkits "
        "see docs/library.md");
}

// The newest version that the context has, but not newer than the wanted one. For OpenGL ES there is only one choice.
OpenGl api_of(const Api& gl, const std::string& version, OpenGl wanted) {
    if (version.starts_with("OpenGL ES")) {
        if (!gl.VERSION_3_0) refuse_version(version);
        return OpenGl::Es3;
    }
    if (!gl.VERSION_3_3) refuse_version(version);
    const bool may_be_4 = wanted != OpenGl::Desktop33, may_be_4_5 = may_be_4 && wanted != OpenGl::Desktop41;
    if (gl.VERSION_4_5 && may_be_4_5) return OpenGl::Desktop45;
    return gl.VERSION_4_1 && may_be_4 ? OpenGl::Desktop41 : OpenGl::Desktop33;
}

template <class Function>
void load(Function& function, const Loader& loader, const char* name) {
    if (!function) function = reinterpret_cast<Function>(loader.load(loader.user, name));
}

// The table is of desktop OpenGL. Some of its functions came to OpenGL ES with a version number above the context's.
void load_for_es(Api& gl, const Loader& loader) {
    load(gl.BindSampler, loader, "glBindSampler");
    load(gl.BlendEquationSeparatei, loader, "glBlendEquationSeparatei");
    load(gl.BlendEquationi, loader, "glBlendEquationi");
    load(gl.BlendFuncSeparatei, loader, "glBlendFuncSeparatei");
    load(gl.ClientWaitSync, loader, "glClientWaitSync");
    load(gl.DebugMessageCallback, loader, "glDebugMessageCallback");
    load(gl.DeleteSync, loader, "glDeleteSync");
    load(gl.DepthRangef, loader, "glDepthRangef");
    load(gl.FenceSync, loader, "glFenceSync");
    load(gl.GetInteger64v, loader, "glGetInteger64v");
    load(gl.GetPointerv, loader, "glGetPointerv");
    load(gl.GetProgramBinary, loader, "glGetProgramBinary");
    load(gl.IsSampler, loader, "glIsSampler");
    load(gl.ObjectLabel, loader, "glObjectLabel");
    load(gl.PauseTransformFeedback, loader, "glPauseTransformFeedback");
    load(gl.PopDebugGroup, loader, "glPopDebugGroup");
    load(gl.ProgramBinary, loader, "glProgramBinary");
    load(gl.ProgramParameteri, loader, "glProgramParameteri");
    load(gl.PushDebugGroup, loader, "glPushDebugGroup");
    load(gl.ResumeTransformFeedback, loader, "glResumeTransformFeedback");
    gl.EXT_depth_bounds_test = 0;  // its functions take doubles, which OpenGL ES lacks
    gl.PolygonMode = nullptr;      // only extensions have it
    if (has_extension(gl, "GL_ANGLE_polygon_mode")) load(gl.PolygonMode, loader, "glPolygonModeANGLE");
    if (has_extension(gl, "GL_NV_polygon_mode")) load(gl.PolygonMode, loader, "glPolygonModeNV");
}

// A context without errors would not report that memory ran out or that a call was refused, and the probes of features
// rely on errors.
void require_errors(const Api& gl, OpenGl api) {
    if (api == OpenGl::Es3 && !gl.VERSION_3_2) return;  // it does not tell
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
      egl(std::make_unique<EglContext>(options, options.api == OpenGl::Best ? api_from_environment() : options.api)) {
    const auto previous = egl->make_current();
    try {
        load({[](void* user, const char* name) { return static_cast<EglContext*>(user)->proc_address(name); },
              egl.get()},
             egl->api());
    } catch (...) {
        egl->restore(previous);
        throw;
    }
    info.platform = egl->platform();
    info.surface = egl->surface();
    if (on_debug_message && features.has(43, 32)) {
        gl.Enable(GL_DEBUG_OUTPUT);
        gl.Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
        gl.DebugMessageCallback(forward_debug_message, this);
    }
    egl->restore(previous);
}

Device::Device(const Loader& loader) : api_(std::make_shared<Api>()), gl(*api_) {
    note_use();
    load(loader, api_from_environment());
    identity_.emplace(*dialect);
}

Device::~Device() {
    if (!process_.is_here()) {  // the context belongs to the parent process
        static_cast<void>(egl.release());
        return;
    }
    if (!identity_ || !is_within_reach()) return;  // a headless context frees all its objects itself
    destroy_what_waits();
    programs.release(gl);
    host_.release(gl);
    dialect->release();
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
    const auto current = identity_ ? identity_->current(gl, *dialect) : Current::Same;
    if (current == Current::Same) return;
    if (current == Current::Primitive)
        throw InvalidArgument(std::string(in_primitive) + "; make the call outside of it");
    throw InvalidArgument(std::string(current == Current::None
                                          ? "no OpenGL context is current on this thread"
                                          : "another OpenGL context is current on this thread than the adopted one") +
                          "; make that one current before the call");
}

void Device::load(const Loader& loader, OpenGl wanted) {
    // glad passes the user pointer through, so the loader needs no global.
    if (!quadmill_gladLoadGLContextUserPtr(&gl, loader.load, loader.user)) {
        if (egl) throw ContextError("the OpenGL functions could not be loaded through eglGetProcAddress");
        const bool loads = loader.load(loader.user, "glGetString");
        throw ContextError(std::string(loader.function) + ": " +
                           (!loads ? "the loader does not know glGetString; give the function that loads OpenGL "
                                     "functions for your context, such as glfwGetProcAddress"
                            : is_context_current()
                                ? std::string(in_primitive) + ", or it is lost"
                                : "no OpenGL context is current on this thread; make yours current first"));
    }
    const auto text = [&](GLenum what) {
        const auto* word = gl.GetString(what);
        return std::string(word ? reinterpret_cast<const char*>(word) : "");
    };
    info.version = text(GL_VERSION);
    info.api = api_of(gl, info.version, wanted);
    if (info.api == OpenGl::Es3) load_for_es(gl, loader);
    if (has_extension(gl, "GL_ARB_clip_control")) gl::load(gl.ClipControl, loader, "glClipControl");
    if (has_extension(gl, "GL_EXT_clip_control")) gl::load(gl.ClipControl, loader, "glClipControlEXT");
    require_errors(gl, info.api);
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
    if (gl.VERSION_4_5 || gl.KHR_robustness) gl.GetIntegerv(GL_RESET_NOTIFICATION_STRATEGY, &strategy);
    info.robust = strategy == GL_LOSE_CONTEXT_ON_RESET;
    dialect = info.api == OpenGl::Desktop45 ? make_desktop45(*this)
              : info.api == OpenGl::Es3     ? make_es3(*this, loader)
                                            : make_core33(*this, loader, info.api);
    features = Features::of(gl, info, info.api);
    // OpenGL ES 3.0 promises four targets. If that version was asked for, no more are used.
    if (wanted == OpenGl::Es3) features.color_targets = std::min(features.color_targets, 4);
}

void Device::enter(std::string_view function) {
    const auto named = [&](const std::exception& error) { return std::string(function) + ": " + error.what(); };
    try {
        open_session();
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(named(error));
    } catch (const ContextError& error) {
        throw ContextError(named(error));
    }
}

void Device::open_session() {
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
        if (egl) egl->make_current();  // a session of another context may have begun in between
    } catch (const ContextError&) {
        return;  // another thread has made the context current, with its state
    }
    if (previous_.empty() && is_within_reach()) {
        pipeline.end_condition(*dialect);
        dialect->end_session();
        host_.restore(gl, features);
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
    if (dialect->is_lost()) message += "; the GPU was reset and the context is lost";
    throw GlError(message + " (" + info.renderer + ")");
}

}  // namespace quadmill::detail::gl
