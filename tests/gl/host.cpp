#include "gl/host.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gl/older_version.hpp"
#include "quadmill/error.hpp"

namespace quadmill::test {

namespace {

template <class Function>
void load(void* library, Function& function, const char* name) {
    void* symbol = dlsym(library, name);
    std::memcpy(&function, &symbol, sizeof symbol);
}

void attach(const Api& gl, GLuint program, GLenum stage, const char* source) {
    if (!source) return;
    const GLuint shader = gl.CreateShader(stage);
    const auto version = version_of(gl);
    const char* const first = version.is_es         ? "#version 300 es\nprecision highp float;\n"
                              : version.has(45, 45) ? "#version 450 core\n"
                                                    : "#version 330 core\n";
    const std::array parts{first, source};
    gl.ShaderSource(shader, static_cast<GLsizei>(parts.size()), parts.data(), nullptr);
    gl.CompileShader(shader);
    gl.AttachShader(program, shader);
    gl.DeleteShader(shader);
}

}  // namespace

const Egl& Egl::get() {
    static const Egl egl = [] {
        Egl loaded{};
        // Never closed, as in the library: drivers leave exit handlers behind.
        void* library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
        REQUIRE(library != nullptr);
        load(library, loaded.get_proc_address, "eglGetProcAddress");
        load(library, loaded.current_context, "eglGetCurrentContext");
        load(library, loaded.current_display, "eglGetCurrentDisplay");
        load(library, loaded.make_current, "eglMakeCurrent");
        load(library, loaded.bind_api, "eglBindAPI");
        load(library, loaded.query_api, "eglQueryAPI");
        load(library, loaded.query_context, "eglQueryContext");
        load(library, loaded.choose_config, "eglChooseConfig");
        load(library, loaded.create_context, "eglCreateContext");
        load(library, loaded.destroy_context, "eglDestroyContext");
        return loaded;
    }();
    return egl;
}

void (*proc_address(const char* name))() {
    return Egl::get().get_proc_address(name);
}

void release_current() {
    const auto& egl = Egl::get();
    egl.bind_api(EGL_OPENGL_API);
    if (EGLDisplay display = egl.current_display()) {
        egl.make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    }
}

namespace {

EGLContext make_current(Context opened) {
    opened.make_current();
    return Egl::get().current_context();
}

// Uses the display and config of the current context. The new context becomes current.
EGLContext make_compatible(EGLDisplay display, EGLContext current) {
    const auto& egl = Egl::get();
    EGLint number = 0, found = 0;
    egl.query_context(display, current, EGL_CONFIG_ID, &number);
    const std::array config_wish{EGL_CONFIG_ID, number, EGL_NONE};
    EGLConfig config = nullptr;
    REQUIRE(egl.choose_config(display, config_wish.data(), &config, 1, &found) != EGL_FALSE);
    const std::array wish{EGL_CONTEXT_MAJOR_VERSION,
                          4,
                          EGL_CONTEXT_MINOR_VERSION,
                          5,
                          EGL_CONTEXT_OPENGL_PROFILE_MASK,
                          EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT,
                          EGL_NONE};
    EGLContext made = egl.create_context(display, found == 1 ? config : nullptr, EGL_NO_CONTEXT, wish.data());
    REQUIRE(made != nullptr);
    REQUIRE(egl.make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, made) != EGL_FALSE);
    return made;
}

}  // namespace

Host::Host(const HeadlessOptions& options)
    : opened_(Context::headless(options)), handle_(make_current(opened_)), context(opened_) {
    REQUIRE(quadmill_gladLoadGLContext(&gl, proc_address) != 0);
    complete_older(gl, proc_address);
}

Host::Host(Profile profile)
    : opened_(Context::headless()), handle_(make_current(opened_)), context(profile == Profile::Core ? opened_ : [&] {
          display_ = Egl::get().current_display();
          handle_ = own_ = make_compatible(display_, handle_);
          return adopt();
      }()) {
    REQUIRE(quadmill_gladLoadGLContext(&gl, proc_address) != 0);
    complete_older(gl, proc_address);
}

Profile each_profile() {
    auto profile = Profile::Core;
    SUBCASE("core profile") {
        profile = Profile::Core;
    }
    if (std::getenv("QUADMILL_API")) return profile;  // NOLINT(concurrency-mt-unsafe): no thread sets any
    SUBCASE("compatibility profile") {
        profile = Profile::Compatibility;
    }
    return profile;
}

Host::~Host() {
    release_current();
    if (own_) Egl::get().destroy_context(display_, own_);
}

std::vector<GLenum> take_errors(const Api& gl) {
    std::vector<GLenum> errors;
    for (GLenum error = gl.GetError(); error != GL_NO_ERROR && errors.size() < 16; error = gl.GetError()) {
        errors.push_back(error);
    }
    return errors;
}

namespace {

template <class Ask>
bool is_known(const Api& gl, const Ask& ask) {
    REQUIRE(gl.GetError() == GL_NO_ERROR);
    ask();
    return take_errors(gl).empty();
}

}  // namespace

bool has_capability(const Api& gl, GLenum name) {
    return is_known(gl, [&] { static_cast<void>(gl.IsEnabled(name)); });
}

bool has_capability_of_viewport(const Api& gl, GLenum name) {
    return is_known(gl, [&] { static_cast<void>(gl.IsEnabledi(name, 0)); });
}

bool has_integer(const Api& gl, GLenum name) {
    std::array<GLint, 16> values{};
    return is_known(gl, [&] { gl.GetIntegerv(name, values.data()); });
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::string error_names(const std::vector<GLenum>& errors) {
    std::string all;
    for (const auto error : errors) {
        std::array<char, 16> hex{};
        std::snprintf(hex.data(), hex.size(), " 0x%x", error);
        all += hex.data();
    }
    return all;
}

void raise(const Api& gl, GLenum error) {
    switch (error) {
        case GL_INVALID_ENUM:
            gl.CullFace(GL_TEXTURE_2D);
            break;
        case GL_INVALID_VALUE:
            gl.LineWidth(-1);
            break;
        case GL_INVALID_OPERATION:
            gl.BeginQuery(GL_ANY_SAMPLES_PASSED, 0);
            break;
        case GL_INVALID_FRAMEBUFFER_OPERATION: {
            // Clears a framebuffer with a texture without storage. If an advanced blend equation is set, NVIDIA's driver
            // resets the context in OpenGL 4.1 when such a framebuffer is read (ReadPixels; GL_MULTIPLY_KHR reaches
            // the GPU as it is, Xid 69).
            GLuint bare = 0, texture = 0;
            GLint before = 0;
            gl.GetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &before);
            gl.CreateFramebuffers(1, &bare);
            gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
            gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, bare);
            gl.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
            gl.Clear(GL_COLOR_BUFFER_BIT);
            gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(before));
            gl.DeleteFramebuffers(1, &bare);
            gl.DeleteTextures(1, &texture);
            break;
        }
        case GL_OUT_OF_MEMORY: {
            GLuint huge = 0;
            gl.CreateBuffers(1, &huge);
            gl.NamedBufferData(huge, INTPTR_MAX / 4, nullptr, GL_STATIC_DRAW);
            gl.DeleteBuffers(1, &huge);
            break;
        }
        case GL_STACK_UNDERFLOW:
            gl.PopDebugGroup();
            break;
        case GL_STACK_OVERFLOW: {
            GLint depth = 0, max = 0;
            gl.GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &depth);
            gl.GetIntegerv(GL_MAX_DEBUG_GROUP_STACK_DEPTH, &max);
            for (GLint i = depth; i < max + 1; ++i) gl.PushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, 1, "g");
            GLint now = 0;
            gl.GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &now);
            for (GLint i = now; i > depth; --i) gl.PopDebugGroup();
            break;
        }
        default:
            FAIL("no way to raise error ", error);
    }
}

GLuint make_program(const Api& gl, const char* vertex, const char* fragment, bool separable, bool feedback) {
    const GLuint program = gl.CreateProgram();
    attach(gl, program, GL_VERTEX_SHADER, vertex);
    attach(gl, program, GL_FRAGMENT_SHADER, fragment);
    if (separable) gl.ProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_TRUE);
    const std::array captured{"captured"};
    if (feedback) gl.TransformFeedbackVaryings(program, 1, captured.data(), GL_INTERLEAVED_ATTRIBS);
    gl.LinkProgram(program);
    GLint linked = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    std::string log(2048, '\0');
    gl.GetProgramInfoLog(program, static_cast<GLsizei>(log.size()), nullptr, log.data());
    REQUIRE_MESSAGE(linked == GL_TRUE, log);
    return program;
}

}  // namespace quadmill::test
