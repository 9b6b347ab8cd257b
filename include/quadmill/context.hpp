/// The OpenGL context that the library works in: one of its own, without a display, or the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quadmill/api.hpp"

namespace quadmill {

namespace detail::gl {
class Device;
struct Pass;
}  // namespace detail::gl

/// Versions of OpenGL that the library can work with.
enum class OpenGl {
    Best,       ///< the newest that the driver gives
    Desktop45,  ///< 4.5 and later
    Desktop41,  ///< 4.1, the newest version on macOS (where quadmill was not tried)
    Desktop33,  ///< 3.3
    Es3         ///< OpenGL ES 3.0 and later
};

/// How Context::headless opens its context.
struct HeadlessOptions {
    /// Best uses the environment variable QUADMILL_API (gl45, gl41, gl33 or es3) if it is set; otherwise it tries the
    /// versions in this order. With any other value, the library uses only features of that version, even if the driver
    /// has more.
    OpenGl api = OpenGl::Best;
    /// Index into Context::devices(). -1 uses the environment variable QUADMILL_DEVICE if it is set; otherwise the
    /// first device with a supported version of OpenGL.
    int device = -1;
    /// The default framebuffer of a headless context. The library never draws to it; some drivers need one.
    enum class Surface { Auto, Surfaceless, Pbuffer };
    /// Auto: no surface if the driver allows that, otherwise a pbuffer of 1 x 1. Surfaceless: no surface, or
    /// ContextError.
    Surface surface = Surface::Auto;
    /// Receives the driver's debug messages. If it is set, a debug context is created.
    std::function<void(std::string_view message)> on_debug_message{};
};

/// One EGL device.
struct DeviceInfo {
    int index;         ///< the value for HeadlessOptions::device and QUADMILL_DEVICE
    std::string name;  ///< vendor and device file, if the driver reports them
};

/// Facts about a context and its driver.
struct ContextInfo {
    OpenGl api = OpenGl::Desktop45;                           ///< the version that the library works with; never Best
    std::string renderer, vendor, version, shading_language;  ///< the driver's strings (GL_RENDERER, ...)
    std::string platform;   ///< "EGL device 0", "EGL surfaceless", "EGL default display" or "adopted"
    std::string surface;    ///< "none", "pbuffer" or "the caller's"
    bool robust = false;    ///< out-of-bounds access is defined and a GPU reset is reported
    bool software = false;  ///< renders on the CPU (llvmpipe, softpipe, SwiftShader)
    int max_texture_size = 0, max_array_layers = 0;       ///< texels per side; layers of an array texture
    int max_draw_buffers = 0;                             ///< render targets of a pass
    int max_viewport_width = 0, max_viewport_height = 0;  ///< in texels
    /// Extensions that this driver has and the library uses.
    std::vector<std::string> optional_extensions;
};

/// A rectangle of a pass's target, and the rectangle of its source that texture coordinates run over, both in texels
/// from the lower left. A source whose x0 > x1 (or y0 > y1) is read backwards. Engine::Bitonic encodes in the source
/// which key to keep: it adds the texture's width times a code to x0 and x1.
struct PassQuad {
    /// Two opposite corners.
    struct Corners {
        float x0, y0, x1, y1;  ///< in texels
        bool operator==(const Corners&) const = default;
    };
    Corners target, source;  ///< where it is drawn, and what is read there
    /// Number of texels of the target that it covers.
    [[nodiscard]] std::uint64_t texels() const {
        return static_cast<std::uint64_t>(target.x1 - target.x0) * static_cast<std::uint64_t>(target.y1 - target.y0);
    }
    bool operator==(const PassQuad&) const = default;
};

/// One pass, as a PassObserver sees it. Valid during the call only.
struct PassEvent {
    std::string_view name;      ///< "min", "max", "copy", ...
    int stage = -1, step = -1;  ///< of the sorting network, counted from 1; -1 if there is none
    std::uint32_t target = 0;   ///< id of the texture that the pass writes
    int width = 0, height = 0;  ///< of the target, in texels
    int targets = 1;            ///< number of render targets: layers of `target`
    std::string_view format{};  ///< of the target: "RGBA32F", ...
    /// How the new value is combined with the old texel.
    enum class Write { Replace, Blend };
    Write write = Write::Replace;            ///< replaces it, or gives the min, max or sum of both
    int quads = 0;                           ///< 0 for a copy from texture to texture, and for points
    std::uint64_t texels = 0;                ///< covered by the quads or points, in each target
    std::span<const PassQuad> rectangles{};  ///< the quads themselves
    const detail::gl::Pass* pass = nullptr;  ///< internal; null for a copy
};

/// Sees every pass as it is issued, in the order of issue, on the calling thread. Passes that conditional rendering
/// skips on the GPU are reported, too, because the CPU cannot know.
class QUADMILL_API PassObserver {
  public:
    virtual ~PassObserver();
    virtual void before(const PassEvent& pass);  ///< just before the pass is issued; does nothing by default
    virtual void after(const PassEvent& pass);   ///< just after it
};

/// An OpenGL context that the library works in.
///
/// One context belongs to one thread at a time. Copies share the context, so objects that work in one take a `const
/// Context&` and keep a copy. A headless context is made current by each call that needs it, and the previous context
/// is made current again after the call. An adopted context must be current on the calling thread in each call,
/// otherwise the call throws InvalidArgument. An object built from it may be destroyed while another context, or none,
/// is current: its GPU memory is freed in the next call in its own context, or with that context.
///
/// A context belongs to one process: drivers do not work across fork(). In a child process each call that needs the
/// parent's context throws ContextError; Engine::Cpu and summaries on the CPU work there.
class QUADMILL_API Context {
  public:
    /// A function that finds OpenGL's functions by their names, as glfwGetProcAddress does.
    using GetProcAddress = void (*(*)(const char* name))();

    /// Opens a context without a display through EGL, trying the device platform, then Mesa's surfaceless platform,
    /// then the default display. libEGL is opened at run time. A thread cannot have a GLX and an EGL context current at
    /// the same time, so each call releases a current GLX context and makes it current again after the call.
    /// Throws: ContextError, saying what was tried and what to install, also if there is no device with that index, and
    /// in a process that was forked from one that had used OpenGL; InvalidArgument for a device below -1, for a
    /// QUADMILL_DEVICE that is not a number >= 0, and for an unknown QUADMILL_API.
    static Context headless(const HeadlessOptions& options = {});

    /// Takes the caller's context, which must be current: OpenGL 3.3 or OpenGL ES 3.0, or later, of any profile. The
    /// environment variable QUADMILL_API (gl41, ...) restricts the library to a lower version. The library loads its
    /// own function table, and restores the context's state after each call (below OpenGL 4.3 without subroutine
    /// uniforms). Transform feedback that is active is paused and resumed.
    /// Pre: during any call of the library, this context is current; no query of samples, primitives or shader
    /// invocations and no conditional rendering is active, and the current program is not flagged for deletion. In the
    /// compatibility profile, no display list is in progress, and selection and feedback mode are not active. All these
    /// are refused with InvalidArgument. Active conditional rendering is detected only if an earlier call was made
    /// outside of it, because OpenGL cannot query it. In OpenGL 3.3, transform feedback is not active: it can be
    /// neither queried nor paused there, and the driver would report an error.
    /// Throws: ContextError if neither EGL nor GLX has a current context, or it is older than OpenGL 3.3 or OpenGL ES
    /// 3.0 (the message says what to request from GLFW, SDL, Qt or GTK); InvalidArgument for an unknown QUADMILL_API.
    ///
    ///     auto context = Context::adopt();  // the one that is current on this thread
    static Context adopt();

    /// adopt() with your own loader, such as glfwGetProcAddress. It is needed only if neither EGL nor GLX made the
    /// context.
    /// Throws: as adopt(); InvalidArgument for a null pointer.
    static Context adopt(GetProcAddress get_proc_address);

    /// adopt() with any callable that takes a name and returns a pointer: SDL_GL_GetProcAddress, a loader for glad, or
    /// Qt's `[&](const char* name) { return QOpenGLContext::currentContext()->getProcAddress(name); }`. It is only
    /// called within adopt().
    template <class Loader>
    requires std::is_pointer_v<std::invoke_result_t<Loader&, const char*>>
    static Context adopt(Loader&& loader) {
        if constexpr (std::is_pointer_v<std::remove_reference_t<Loader>>) {
            if (!loader) return adopt(GetProcAddress{});
        }
        const auto load = [](void* user, const char* name) {
            return reinterpret_cast<void (*)()>((**static_cast<std::remove_reference_t<Loader>**>(user))(name));
        };
        auto* address = std::addressof(loader);
        return adopt_by(load, &address);
    }

    /// The EGL devices that Context::headless can choose from; empty if the driver cannot list them.
    /// Throws: ContextError if there is no EGL.
    static std::vector<DeviceInfo> devices();

    [[nodiscard]] const ContextInfo& info() const noexcept;  ///< as found when it was opened

    /// Sets the observer of this context, nullptr for none, and returns the previous one. The context does not own it.
    PassObserver* observe(PassObserver* observer) noexcept;

    /// Makes a headless context current on this thread, until another one is made current, for the caller's own OpenGL
    /// code. Does nothing for an adopted one. A GLX context that is current is released first.
    /// Throws: ContextError if another thread has it current.
    void make_current();

    /// The driver's function of that name, for callers without a loader for a headless context; null for an adopted
    /// one.
    [[nodiscard]] void (*proc_address(const char* name) const)();

    /// The shader programs that this context has compiled so far, in the driver's own form. Give the bytes to
    /// load_programs() in a later run, and nothing is compiled again. Programs belong to the context, and all objects
    /// in it share them. Empty if the driver has no such form.
    /// Throws: GlError.
    [[nodiscard]] std::vector<std::byte> save_programs() const;

    /// Loads shader programs, which then need no compiling. Returns the number of programs loaded: 0 if another driver
    /// or driver version saved them.
    /// Throws: InvalidArgument for bytes that save_programs() did not make.
    ///
    ///     const auto saved = context.save_programs();  // to a file; in the next run:
    ///     next.load_programs(saved);
    std::size_t load_programs(std::span<const std::byte> saved);

  private:
    friend detail::Access;
    static Context adopt_by(void (*(*load)(void* user, const char* name))(), void* user);
    [[nodiscard]] const std::shared_ptr<detail::gl::Device>& inside() const noexcept { return device_; }
    explicit Context(std::shared_ptr<detail::gl::Device> device);
    std::shared_ptr<detail::gl::Device> device_;
};

/// Saves the context's OpenGL state once for many calls of the library and restores it at its end. Without a Session
/// each call saves and restores. Sessions may be nested: the outermost one saves and restores.
/// Pre: while a Session is open, the application does not use the context.
/// Cost: some 100 glGet calls and as many to restore: 1 to 30 us; `quadmill limits` measures it.
/// Throws: InvalidArgument in the cases that Context::adopt() lists under Pre; ContextError as Context::make_current().
class QUADMILL_API Session {
  public:
    /// Saves the state, now.
    explicit Session(const Context& context);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

  private:
    std::shared_ptr<detail::gl::Device> device_;
};

/// An observer that times each pass, as `--profile` prints. On a GPU it uses timestamp queries and does not wait; on a
/// software renderer it waits for each pass and uses the wall clock.
class QUADMILL_API PassProfiler final : public PassObserver {
  public:
    /// One row per pass name, or per name and step of the network, in order of first appearance. Passes of one name
    /// with different formats or blending have separate rows.
    struct Row {
        std::string name;                                    ///< of the passes
        std::string format;                                  ///< of the targets
        PassEvent::Write write = PassEvent::Write::Replace;  ///< of the passes
        std::uint64_t passes = 0;                            ///< number of passes
        std::uint64_t texels = 0;                            ///< written, over all render targets
        double gpu_ms = 0;                                   ///< of all of them
    };

    /// The key of a row.
    enum class Rows { ByName, ByStep };

    /// Watches `context` until destroyed, then restores the previous observer, which sees no pass in between.
    explicit PassProfiler(const Context& context, Rows rows = Rows::ByName);
    PassProfiler(const PassProfiler&) = delete;
    PassProfiler& operator=(const PassProfiler&) = delete;
    ~PassProfiler() override;

    void before(const PassEvent& pass) override;  ///< begins to time it
    void after(const PassEvent& pass) override;   ///< ends it

    /// The rows so far.
    /// Cost: waits for the GPU.
    [[nodiscard]] std::vector<Row> rows();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
