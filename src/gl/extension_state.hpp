// State of extensions that would change what passes draw or transfers move, and that core OpenGL 4.5 does not have.
// Only what the driver offers is asked for and set.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "gl/api_fwd.hpp"

namespace quadmill::detail::gl {

class ExtensionState {
  public:
    // Pre: no error is pending.
    void save(const Api& gl);
    // As if the extensions did not exist. Pre: the host's vertex array is bound.
    void set_baseline(const Api& gl) const;
    // Pre: the host's vertex array is bound, and the core's capabilities are restored.
    void restore(const Api& gl) const noexcept;

  private:
    enum class Group { WindowRectangles, SubpixelBits, ViewportSwizzle, CoverageModulation, StencilFace };
    void find_offered(const Api& gl);
    void save(const Api& gl, Group group);
    void restore(const Api& gl, Group group) const noexcept;

    bool found_ = false;  // what the driver offers, once for a device
    std::vector<std::size_t> offered_switches_;
    std::vector<Group> offered_groups_;
    std::vector<bool> on_;  // for each offered switch
    std::vector<std::array<int, 4>> window_rectangles_;
    int window_mode_ = 0;
    std::array<int, 2> subpixel_bits_{};
    std::array<int, 4> swizzle_{};
    int coverage_modulation_ = 0, stencil_face_ = 0;
};

// Subroutine uniforms of the program in use, or without one, of the bound pipeline's programs. They belong to the
// context, which forgets them as soon as another program is used.
class SubroutineState {
  public:
    void save(const Api& gl);
    // Pre: the same program is in use.
    void restore(const Api& gl) const noexcept;

  private:
    static constexpr std::size_t stages = 6;
    std::array<std::vector<unsigned>, stages> chosen_;
};

}  // namespace quadmill::detail::gl
