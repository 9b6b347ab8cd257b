// An application ("host") that owns an OpenGL context, with EGL and a function table of its own.
#pragma once

#include <quadmill_glad/egl.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "gl/api.hpp"
#include "quadmill/context.hpp"

namespace quadmill::test {

using Api = detail::gl::Api;
using Enums = std::initializer_list<GLenum>;

// The few functions of EGL that tests call themselves, independent of the library's loader.
struct Egl {
    PFNEGLGETPROCADDRESSPROC get_proc_address;
    PFNEGLGETCURRENTCONTEXTPROC current_context;
    PFNEGLGETCURRENTDISPLAYPROC current_display;
    PFNEGLMAKECURRENTPROC make_current;
    PFNEGLBINDAPIPROC bind_api;
    PFNEGLQUERYAPIPROC query_api;
    PFNEGLQUERYCONTEXTPROC query_context;
    PFNEGLCHOOSECONFIGPROC choose_config;
    PFNEGLCREATECONTEXTPROC create_context;
    PFNEGLDESTROYCONTEXTPROC destroy_context;
    static const Egl& get();
};

// The argument for Context::adopt.
void (*proc_address(const char* name))();

// Leaves the thread without a current context.
void release_current();

enum class Profile { Core, Compatibility };
// Makes a test run once in each profile: "Host host(each_profile());".
Profile each_profile();

// A context that is current on this thread for the life of the Host.
class Host {
  public:
    explicit Host(const HeadlessOptions& options = {});
    explicit Host(Profile profile);
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    ~Host();

    // Adopts the context as the application's. `context` is a headless view of the same context, or in the
    // compatibility profile, which headless contexts never have, another adopted view.
    [[nodiscard]] static Context adopt() { return Context::adopt(proc_address); }
    [[nodiscard]] EGLContext handle() const { return handle_; }

  private:
    Context opened_;
    EGLDisplay display_ = nullptr;
    EGLContext handle_, own_ = nullptr;

  public:
    Context context;
    Api gl{};
};

// Reads and returns all pending errors.
std::vector<GLenum> take_errors(const Api& gl);
// Whether the context knows the name. A driver may list an extension in a profile that lacks its state. Pre: no error
// is pending.
bool has_capability(const Api& gl, GLenum name);
bool has_capability_of_viewport(const Api& gl, GLenum name);
bool has_integer(const Api& gl, GLenum name);

// The numbers of errors as text, " 0x500 0x502", for tests to compare and print.
std::string error_names(const std::vector<GLenum>& errors);

// The message of a call that must be refused.
std::string message_of(const std::function<void()>& call);

// Raises that error on purpose.
void raise(const Api& gl, GLenum error);

// Links a program of the application from the given sources (no version line needed; null for none). If `captured` is
// given, that varying of the vertex shader is captured by transform feedback.
GLuint make_program(const Api& gl, const char* vertex, const char* fragment, bool separable = false,
                    bool feedback = false);

}  // namespace quadmill::test
