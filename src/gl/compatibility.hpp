// State that only the compatibility profile has, as far as it would change what passes draw or transfers move. Fixed
// functions that a program replaces (lights, fog, matrices, texture environments) are not included.
#pragma once

#include <array>
#include <vector>

#include "gl/api_fwd.hpp"

namespace quadmill::detail::gl {

class CompatibilityState {
  public:
    // Throws InvalidArgument while a display list is being compiled, since it would record the library's calls, or in a
    // render mode that draws nothing.
    static void refuse_what_hides_passes(const Api& gl);
    void save(const Api& gl);
    // Sets the values that the core profile has.
    static void set_baseline(const Api& gl);
    void restore(const Api& gl) const noexcept;

  private:
    std::vector<bool> capabilities_;
    std::vector<float> transfers_;
    std::array<float, 16> color_matrix_{};
    std::array<float, 3> point_attenuation_{};
    float min_point_ = 0, max_point_ = 0;
    std::array<int, 2> polygon_mode_{};  // front and back, which may differ in this profile
    int clamp_fragments_ = 0;
};

}  // namespace quadmill::detail::gl
