// Saves the application's OpenGL state before the library works and restores it afterwards. It covers all state that
// the library's passes, transfers and queries change. tests/gl compares snapshots of all state of OpenGL 4.5 to prove
// that nothing is missed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gl/api_fwd.hpp"
#include "gl/compatibility.hpp"
#include "gl/extension_state.hpp"
#include "gl/features.hpp"

namespace quadmill::detail::gl {

inline constexpr int texture_units = 8;  // passes use only units 0 to 7
inline constexpr int draw_buffers = 8;

class HostState {
  public:
    // Also takes the application's pending GL errors, so that restore() can raise them again. Throws InvalidArgument in
    // these cases: an active query would count the library's passes; conditional rendering would skip them; a bound
    // object could not be bound again; a display list of the compatibility profile is being compiled; its render mode
    // draws nothing.
    void save(const Api& gl, const Features& features);
    // Few passes use the stencil test, so its state is saved before the first such pass of a session. The pass's target
    // must be bound: glGet clamps the reference to the range of the bound stencil buffer, and at save() there may be
    // none.
    void save_stencil(const Api& gl, const Features& features);
    // Saves them before the first pass of a session that blends with factors.
    void save_blend_factors(const Api& gl, const Features& features);
    void restore(const Api& gl, const Features& features) const noexcept;
    // Turns off extensions that would affect passes. Pre: save() has been called, and the application's vertex array is
    // bound.
    void set_extension_baseline(const Api& gl) const { extensions_.set_baseline(gl); }
    // Deletes its probe query.
    void release(const Api& gl) const noexcept;

  private:
    void refuse_conditional_rendering(const Api& gl, const Features& features);
    void save_bindings(const Api& gl, const Features& features);
    void save_targets(const Api& gl, const Features& features);
    void restore_targets(const Api& gl, const Features& features) const noexcept;
    void save_viewports(const Api& gl, const Features& features);
    void restore_viewports(const Api& gl, const Features& features) const noexcept;
    void restore_bindings(const Api& gl, const Features& features) const noexcept;
    void pause_feedback(const Api& gl, const Features& features);
    void restore_stencil(const Api& gl) const noexcept;

    struct StencilFace {
        std::int64_t func, reference, value_mask, write_mask, fail, depth_fail, depth_pass;
    };
    std::array<bool, 30> capabilities_{};
    std::array<bool, draw_buffers> blend_{};
    std::array<std::array<int, 2>, draw_buffers> blend_equation_{};
    // Factors for source and destination, colour and alpha.
    std::optional<std::array<std::array<int, 4>, draw_buffers>> blend_factors_;
    std::array<std::array<unsigned char, 4>, draw_buffers> color_mask_{};
    std::array<int, texture_units> texture_{}, texture_array_{}, texture_buffer_{}, sampler_{};
    // One for each viewport that passes change: only the first, if calls can change a single one.
    std::vector<std::array<float, 4>> viewports_;
    std::vector<std::array<int, 4>> scissor_boxes_;
    std::vector<bool> scissors_;
    std::array<double, 2> depth_range_{}, depth_bounds_range_{0, 1};
    float point_size_ = 1;
    int depth_func_ = 0;
    unsigned char depth_mask_ = 1;
    std::optional<std::array<StencilFace, 2>> stencil_;  // front, back
    std::optional<CompatibilityState> old_state_;
    std::array<int, 2> polygon_mode_{};
    int program_ = 0, vertex_array_ = 0, draw_framebuffer_ = 0, active_texture_ = 0;
    int pack_buffer_ = 0, unpack_buffer_ = 0, query_buffer_ = 0;
    int clip_origin_ = 0, clip_depth_ = 0, read_framebuffer_ = 0, array_buffer_ = 0;
    bool paused_feedback_ = false, depth_bounds_ = false;
    std::vector<int> pixel_store_;
    ExtensionState extensions_;
    SubroutineState subroutines_;
    std::vector<std::uint32_t> errors_;
    std::uint32_t probe_ = 0;  // a query that counts nothing
    bool probe_works_ = false;
};

// Sets the state that every pass starts from: all tests off, one sample per pixel, lower-left origin, tight pixel rows.
void set_baseline(const Api& gl, const Features& features);

}  // namespace quadmill::detail::gl
