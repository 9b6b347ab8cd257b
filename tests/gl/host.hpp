// A host program that owns an OpenGL context, as the library meets one: with EGL and a function table of its own.
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

// The few functions of EGL that tests call themselves, beside the library's own loader.
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

// What a host passes to Context::adopt.
void (*proc_address(const char* name))();

// Leaves the thread without a current context.
void release_current();

enum class Profile { Core, Compatibility };
// For a test that runs once in each profile: "Host host(each_profile());".
Profile each_profile();

// A context that is current on this thread as long as the Host lives.
class Host {
  public:
    explicit Host(const HeadlessOptions& options = {});
    explicit Host(Profile profile);
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    ~Host();

    // The library's view of the context as the host's own; `context` is its view of the same as a headless one, or in
    // the compatibility profile, which those never have, another one as the host's own.
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

// Every error that is pending, read away.
std::vector<GLenum> take_errors(const Api& gl);
// Whether the context knows the name: a driver may list an extension in a profile that lacks its state. Pre: no error is
// pending.
bool has_capability(const Api& gl, GLenum name);
bool has_capability_of_viewport(const Api& gl, GLenum name);
bool has_integer(const Api& gl, GLenum name);

// Their numbers as text, " 0x500 0x502", for tests to compare and print.
std::string error_names(const std::vector<GLenum>& errors);

// What a call that must be refused says.
std::string message_of(const std::function<void()>& call);

// The host makes a mistake on purpose.
void raise(const Api& gl, GLenum error);

// A program of the host: links the sources given (no version line needed; null for none), with the varying `captured`
// of the vertex shader fed back where wanted.
GLuint make_program(const Api& gl, const char* vertex, const char* fragment, bool separable = false,
                    bool feedback = false);

}  // namespace quadmill::test
