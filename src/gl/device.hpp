// The state behind a Context: function table, facts, observer, and the open session. All GL objects share its
// ownership.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
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

// Where OpenGL's functions come from.
struct Loader {
    void (*(*load)(void* user, const char* name))();
    void* user;
};

class Device : public std::enable_shared_from_this<Device> {
  public:
    explicit Device(const HeadlessOptions& options);
    explicit Device(const Loader& loader);  // of the context that is current
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device();

    // Opens or joins a session: saves the host's state and sets the baseline that draw() starts from. Throws
    // InvalidArgument when the context is an adopted one that is not current, ContextError in a child process.
    void enter();
    void leave() noexcept;

    // Makes a headless context current until the program changes that.
    void make_current();

    // To be called within a session before its stencil state changes.
    void save_stencil() { host_.save_stencil(gl, features); }
    // And before it blends with factors.
    void save_blend_factors() { host_.save_blend_factors(gl, features); }

    // Throws GlError when a GL call since enter() failed; `where` and `what` go into the message.
    void check(std::string_view where, std::string_view what = {}) const;

    // Runs `destroy` with this context current; for destructors, so it swallows what goes wrong. While an adopted
    // context is not current, it waits until it is: in another one, the name of an object means another object.
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
            // Deleting unbinds, and a later object may get the same name: what draw() remembers no longer holds.
            pipeline.forget_objects();
            if (previous) egl->restore(*previous);
        } catch (...) {  // NOLINT(bugprone-empty-catch): the context is gone or elsewhere, and its objects with it
        }
    }

  private:
    const std::shared_ptr<Api> api_;

  public:
    Api& gl;  // of use within src/gl, which knows the type
    std::unique_ptr<Dialect> dialect;
    ContextInfo info;
    Features features;
    std::optional<bool> lanes_in_boxes;                      // once gl/lanes.hpp has found out
    std::function<void(std::string_view)> on_debug_message;  // outlives the context, which may call it to the last
    std::unique_ptr<EglContext> egl;                         // null for an adopted context
    PassObserver* observer = nullptr;
    std::uint64_t passes = 0;  // issued since the start
    // In use: by the library's textures, by memory for transfers.
    std::size_t texture_bytes = 0, staging_bytes = 0;
    ProgramStore programs;
    Pipeline pipeline;  // what is bound within the open session

  private:
    void load(const Loader& loader, OpenGl wanted);
    [[nodiscard]] bool is_within_reach() const noexcept {
        return !identity_ || identity_->current(gl, *dialect) == ContextIdentity::Current::Same;
    }
    void require_here() const;
    void require_current() const;
    void destroy_what_waits() noexcept;

    const cpu::Birthplace process_;
    std::optional<ContextIdentity> identity_;  // of an adopted context
    std::vector<std::function<void(const Api&)>> destroy_later_;
    HostState host_;
    std::vector<EglContext::Binding> previous_;  // what was current before each open session
};

// A session for the length of a scope. Every public function that touches GL opens one first, and calls check() last.
class Scope {
  public:
    Scope(Device& device, std::string_view function) : device_(device), function_(function) {
        device.enter();
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
