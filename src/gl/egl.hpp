// EGL, opened at run time: devices, and one context without a display.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gl/identity.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

struct EglApi;

// One EGL context. Displays stay initialised when it goes: EGL shares them within the process.
class EglContext {
  public:
    // `api`: the version to ask for; Best tries one after the other.
    EglContext(const HeadlessOptions& options, OpenGl api);
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;
    ~EglContext();

    // What was current on this thread before; Binding::restore brings it back.
    struct Binding {
        unsigned api = 0;
        void *display = nullptr, *draw = nullptr, *read = nullptr, *context = nullptr;
        GlxBinding glx{};  // released when ours was made current
    };
    Binding make_current();
    void restore(const Binding& previous) noexcept;

    [[nodiscard]] void (*proc_address(const char* name) const)();
    [[nodiscard]] OpenGl api() const noexcept { return api_; }
    [[nodiscard]] const std::string& platform() const noexcept { return platform_; }
    [[nodiscard]] const std::string& surface() const noexcept { return surface_name_; }

  private:
    [[nodiscard]] void* create(bool debug) const;
    [[nodiscard]] bool make_pbuffer();
    bool open(void* display, const std::string& platform, const HeadlessOptions& options, std::string& tried);
    bool open_version(void* display, const std::string& platform, const HeadlessOptions& options, std::string& tried);
    // The client API that EGL calls it by.
    [[nodiscard]] unsigned client_api() const noexcept;

    std::shared_ptr<const EglApi> egl_;
    void *display_ = nullptr, *config_ = nullptr, *context_ = nullptr, *surface_ = nullptr;
    std::string platform_, surface_name_;
    bool robust_ = false;
    OpenGl wanted_, api_ = OpenGl::Desktop45;
};

// Drivers have threads and open devices, which a child process does not get.
inline constexpr const char* fork_hint =
    "use OpenGL in the parent or in its children alone, or start the children anew: fork() and exec(), with Python "
    "multiprocessing.set_start_method(\"spawn\"). Engines of the CPU work in every process";
// From here on, OpenGL is in use in this process; EglContext notes its own.
void note_use() noexcept;

// What QUADMILL_API asks for; Best where it is not set. Throws InvalidArgument for another word.
[[nodiscard]] OpenGl api_from_environment();

std::vector<DeviceInfo> egl_devices();
// Whether there is a device that is no software renderer, without opening its driver. False where there is no EGL.
[[nodiscard]] bool has_hardware();

}  // namespace quadmill::detail::gl
