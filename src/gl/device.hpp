// The state behind a Context: function table, facts, observer, and the open session. All GL objects share ownership of
// it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/fork.hpp"
#include "gl/api_fwd.hpp"
#include "gl/debug_group.hpp"
#include "gl/dialect.hpp"
#include "gl/egl.hpp"
#include "gl/features.hpp"
#include "gl/identity.hpp"
#include "gl/pass.hpp"
#include "gl/program_store.hpp"
#include "gl/state_guard.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

// Looks up OpenGL's functions.
struct Loader {
    void (*(*load)(void* user, const char* name))() = nullptr;
    void* user = nullptr;
    const char* function = "Context::adopt";  // which wants them, for messages
};

class Device : public std::enable_shared_from_this<Device> {
  public:
    explicit Device(const HeadlessOptions& options);
    explicit Device(const Loader& loader);  // for the context that is current
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device();

    // Opens or joins a session: saves the application's state and sets the baseline that draw() starts from. Throws
    // InvalidArgument if the context is adopted and not current, and ContextError in a child process. Messages begin
    // with the function.
    void enter(std::string_view function);
    void leave() noexcept;
    // False for an adopted context that is not current.
    [[nodiscard]] bool is_within_reach() const noexcept {
        return !identity_ || identity_->current(gl, *dialect) == ContextIdentity::Current::Same;
    }

    // Makes a headless context current, and leaves it current.
    void make_current();

    // Call it within a session before its stencil state changes.
    void save_stencil() { host_.save_stencil(gl, features); }
    // Call it within a session before passes blend with factors.
    void save_blend_factors() { host_.save_blend_factors(gl, features); }

    // Throws GlError if a GL call since enter() failed; `where` and `what` go into the message.
    void check(std::string_view where, std::string_view what = {}) const;

    // Runs `destroy` with this context current. Destructors call this, so it swallows errors. While an adopted context
    // is not current, `destroy` waits until it is: in another context the same name means another object.
    template <class Destroy>
    void destroy(const Destroy& destroy) noexcept {
        try {
            if (!process_.is_here()) return;
            if (!is_within_reach()) {
                destroy_later_.emplace_back(destroy);
                return;
            }
            std::optional<EglContext::Binding> previous;
            if (egl) previous = egl->make_current();
            destroy(gl);
            // Deleting an object unbinds it, and a later object may get the same name. So draw() must forget what it
            // remembers.
            pipeline.forget_objects();
            if (previous) egl->restore(*previous);
        } catch (...) {  // NOLINT(bugprone-empty-catch): the context is gone or elsewhere, and its objects with it
        }
    }

  private:
    const std::shared_ptr<Api> api_;

  public:
    Api& gl;  // useful only within src/gl, which knows the type
    std::unique_ptr<Dialect> dialect;
    ContextInfo info;
    Features features;
    std::optional<bool> lanes_in_boxes;                      // set once gl/lanes.hpp has found out
    std::function<void(std::string_view)> on_debug_message;  // outlives the context, which may call it until the end
    std::unique_ptr<EglContext> egl;                         // null for an adopted context
    PassObserver* observer = nullptr;
    std::uint64_t passes = 0;  // issued since the device was opened
    // Bytes in use: by the library's textures, and by memory for transfers.
    std::size_t texture_bytes = 0, staging_bytes = 0;
    ProgramStore programs;
    Pipeline pipeline;  // bindings within the open session

  private:
    void load(const Loader& loader, OpenGl wanted);
    void open_session();
    void require_here() const;
    void require_current() const;
    void destroy_what_waits() noexcept;

    const cpu::Birthplace process_;
    std::optional<ContextIdentity> identity_;  // set for an adopted context
    std::vector<std::function<void(const Api&)>> destroy_later_;
    HostState host_;
    std::vector<EglContext::Binding> previous_;  // what was current before each open session
};

// Hides draws from the observer for the length of a scope: they are not passes that the caller asked for.
class Unobserved {
  public:
    explicit Unobserved(Device& device)
        : device_(device), observer_(std::exchange(device.observer, nullptr)), passes_(device.passes) {}
    Unobserved(const Unobserved&) = delete;
    Unobserved& operator=(const Unobserved&) = delete;
    ~Unobserved() {
        device_.observer = observer_;
        device_.passes = passes_;
    }

  private:
    Device& device_;
    PassObserver* observer_;
    std::uint64_t passes_;
};

// A session for the length of a scope. Every public function that uses GL opens one first, and calls check() last.
class Scope {
  public:
    Scope(Device& device, std::string_view function) : device_(device), function_(function) {
        device.enter(function);
        group_.emplace(device.gl, device.features, function);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
        group_.reset();
        device_.leave();
    }
    void check() const { device_.check(function_); }

  private:
    Device& device_;
    std::string_view function_;
    std::optional<DebugGroup> group_;
};

}  // namespace quadmill::detail::gl
