// Which OpenGL context is current: an adopted one is the host's to make current, and any other would take the library's
// object names for its own.
#pragma once

#include <array>
#include <cstdint>

#include "gl/api_fwd.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

class Dialect;

// Tells the context that was current when this was made from all others, also from one that was made at the same
// address later and from one that shares objects with it.
class ContextIdentity {
  public:
    explicit ContextIdentity(Dialect& dialect);

    // Primitive: the same, between glBegin and glEnd, where OpenGL answers no question and makes an error of each.
    enum class Current { Same, Another, None, Primitive };
    [[nodiscard]] Current current(const Api& gl, Dialect& dialect) const noexcept;

    // Pre: the context is current.
    void remove_marker(const Api& gl) const noexcept;

  private:
    // EGL's or GLX's word for the current context.
    using Ask = void* (*)();
    Ask ask_ = nullptr;  // the one that knows the context; null where neither does
    void* handle_ = nullptr;
    // A vertex array, which no two contexts share, that nothing is drawn with; its divisors are numbers that nobody
    // else has.
    std::uint32_t marker_ = 0;
    std::array<int, 2> mark_{};
};

// As far as EGL and GLX know.
[[nodiscard]] bool is_context_current();

// What GLX has current on this thread. With libglvnd a thread has one context current, GLX's or EGL's: before EGL's can
// be made current, GLX's is released.
struct GlxBinding {
    void* display = nullptr;
    unsigned long draw = 0, read = 0;
    void* context = nullptr;  // null: none
};
// Throws ContextError.
[[nodiscard]] GlxBinding release_glx();
void restore_glx(const GlxBinding& released) noexcept;

// What Context::adopt wants, of the context that is current, from EGL or GLX as they are loaded; null where neither of
// them has one.
[[nodiscard]] Context::GetProcAddress current_loader();

}  // namespace quadmill::detail::gl
