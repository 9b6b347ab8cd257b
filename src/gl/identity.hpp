// Tells which OpenGL context is current. Only the application can make an adopted context current, and in any other
// context the library's object names would mean other objects.
#pragma once

#include <array>
#include <cstdint>

#include "gl/api_fwd.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

class Dialect;

// Distinguishes the context that was current at construction from all others, including a later one at the same address
// and one that shares objects with it.
class ContextIdentity {
  public:
    explicit ContextIdentity(Dialect& dialect);

    // Primitive: the same context, but between glBegin and glEnd, where OpenGL answers no query and raises an error for
    // each.
    enum class Current { Same, Another, None, Primitive };
    [[nodiscard]] Current current(const Api& gl, Dialect& dialect) const noexcept;

    // Pre: the context is current.
    void remove_marker(const Api& gl) const noexcept;

  private:
    // Asks EGL or GLX for the current context.
    using Ask = void* (*)();
    Ask ask_ = nullptr;  // of EGL or GLX, whichever knows the context; null if neither does
    void* handle_ = nullptr;
    // A vertex array that is never drawn with; contexts do not share vertex arrays. Its divisors are numbers that no
    // other object has.
    std::uint32_t marker_ = 0;
    std::array<int, 2> mark_{};
};

// According to EGL and GLX.
[[nodiscard]] bool is_context_current();

// The context that GLX has current on this thread. With libglvnd a thread has one current context, either GLX's or
// EGL's, so GLX's must be released before EGL's can be made current.
struct GlxBinding {
    void* display = nullptr;
    unsigned long draw = 0, read = 0;
    void* context = nullptr;  // null if none is current
};
// Throws ContextError.
[[nodiscard]] GlxBinding release_glx();
void restore_glx(const GlxBinding& released) noexcept;

// The argument that Context::adopt needs for the current context, from EGL or GLX if the program has loaded them; null
// if neither has a current context.
[[nodiscard]] Context::GetProcAddress current_loader();

}  // namespace quadmill::detail::gl
