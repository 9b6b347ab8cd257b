// State of extensions beyond core OpenGL 4.5 that would change what passes draw or transfers move. Only what the driver
// offers is read and set.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "gl/api_fwd.hpp"

namespace quadmill::detail::gl {

class ExtensionState {
  public:
    // Pre: no error is pending.
    void save(const Api& gl, bool is_es);
    // Sets the values that make the extensions have no effect. Pre: the application's vertex array is bound.
    void set_baseline(const Api& gl) const;
    // Pre: the application's vertex array is bound, and the core capabilities are restored.
    void restore(const Api& gl) const noexcept;

  private:
    enum class Group { WindowRectangles, SubpixelBits, ViewportSwizzle, CoverageModulation, StencilFace };
    void find_offered(const Api& gl, bool is_es);
    void save(const Api& gl, Group group);
    void restore(const Api& gl, Group group) const noexcept;

    bool found_ = false;  // found once for each device
    std::vector<std::size_t> offered_switches_;
    std::vector<Group> offered_groups_;
    std::vector<bool> on_;  // for each offered switch
    std::vector<std::array<int, 4>> window_rectangles_;
    int window_mode_ = 0;
    std::array<int, 2> subpixel_bits_{};
    std::array<int, 4> swizzle_{};
    int coverage_modulation_ = 0, stencil_face_ = 0;
};

// Subroutine uniforms of the current program or, without one, of the bound pipeline's programs. They belong to the
// context, which forgets them when another program becomes current.
class SubroutineState {
  public:
    void save(const Api& gl);
    // Pre: the same program is current.
    void restore(const Api& gl) const noexcept;

  private:
    static constexpr std::size_t stages = 6;
    std::array<std::vector<unsigned>, stages> chosen_;
};

}  // namespace quadmill::detail::gl
