// EGL, opened at run time: devices, and a context without a display.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gl/identity.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

struct EglApi;

// One EGL context. Its destructor does not terminate the display: EGL shares displays within the process.
class EglContext {
  public:
    // `api` is the version to ask for. Best tries the versions one after the other.
    EglContext(const HeadlessOptions& options, OpenGl api);
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;
    ~EglContext();

    // What was current on this thread before. Binding::restore makes it current again.
    struct Binding {
        unsigned api = 0;
        void *display = nullptr, *draw = nullptr, *read = nullptr, *context = nullptr;
        GlxBinding glx{};  // released when our context was made current
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
    // The client API to bind before calls to EGL.
    [[nodiscard]] unsigned client_api() const noexcept;

    std::shared_ptr<const EglApi> egl_;
    void *display_ = nullptr, *config_ = nullptr, *context_ = nullptr, *surface_ = nullptr;
    std::string platform_, surface_name_;
    bool robust_ = false;
    OpenGl wanted_, api_ = OpenGl::Desktop45;
};

// A child process does not inherit a driver's threads and open devices.
inline constexpr const char* fork_hint =
    "use OpenGL only in the parent or only in its children, or start the children by fork() and exec(), with Python "
    "multiprocessing.set_start_method(\"spawn\"). Engines of the CPU work in every process";
// Records that this process uses OpenGL. EglContext calls it, too.
void note_use() noexcept;

// The words for versions in QUADMILL_API and in options.
inline constexpr std::array<std::pair<const char*, OpenGl>, 4> api_words{
    {{"gl45", OpenGl::Desktop45}, {"gl41", OpenGl::Desktop41}, {"gl33", OpenGl::Desktop33}, {"es3", OpenGl::Es3}}};
// The version that QUADMILL_API asks for; Best if it is not set. Throws InvalidArgument for any other word.
[[nodiscard]] OpenGl api_from_environment();

std::vector<DeviceInfo> egl_devices();
// Whether there is a device other than a software renderer, found without opening its driver. False if EGL is missing.
[[nodiscard]] bool has_hardware();

}  // namespace quadmill::detail::gl
