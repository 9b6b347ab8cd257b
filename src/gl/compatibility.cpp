#include "gl/compatibility.hpp"

#include <limits>
#include <span>

#include "gl/api.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

struct Capability {
    GLenum name;
    bool in_core;  // its value in the core profile
};
// The capabilities of the imaging subset, which few drivers have, come last.
constexpr std::array<Capability, 12> all_capabilities{{{GL_ALPHA_TEST, false},
                                                       {GL_POLYGON_STIPPLE, false},
                                                       {GL_POINT_SMOOTH, false},
                                                       {GL_POINT_SPRITE, true},
                                                       {GL_COLOR_TABLE, false},
                                                       {GL_POST_CONVOLUTION_COLOR_TABLE, false},
                                                       {GL_POST_COLOR_MATRIX_COLOR_TABLE, false},
                                                       {GL_CONVOLUTION_1D, false},
                                                       {GL_CONVOLUTION_2D, false},
                                                       {GL_SEPARABLE_2D, false},
                                                       {GL_HISTOGRAM, false},
                                                       {GL_MINMAX, false}}};
constexpr std::size_t plain_capabilities = 4;

struct Transfer {
    GLenum name;
    float in_core;
};
constexpr std::array<Transfer, 30> all_transfers{{{GL_MAP_COLOR, 0},
                                                  {GL_MAP_STENCIL, 0},
                                                  {GL_INDEX_SHIFT, 0},
                                                  {GL_INDEX_OFFSET, 0},
                                                  {GL_RED_SCALE, 1},
                                                  {GL_GREEN_SCALE, 1},
                                                  {GL_BLUE_SCALE, 1},
                                                  {GL_ALPHA_SCALE, 1},
                                                  {GL_DEPTH_SCALE, 1},
                                                  {GL_RED_BIAS, 0},
                                                  {GL_GREEN_BIAS, 0},
                                                  {GL_BLUE_BIAS, 0},
                                                  {GL_ALPHA_BIAS, 0},
                                                  {GL_DEPTH_BIAS, 0},
                                                  {GL_POST_CONVOLUTION_RED_SCALE, 1},
                                                  {GL_POST_CONVOLUTION_GREEN_SCALE, 1},
                                                  {GL_POST_CONVOLUTION_BLUE_SCALE, 1},
                                                  {GL_POST_CONVOLUTION_ALPHA_SCALE, 1},
                                                  {GL_POST_CONVOLUTION_RED_BIAS, 0},
                                                  {GL_POST_CONVOLUTION_GREEN_BIAS, 0},
                                                  {GL_POST_CONVOLUTION_BLUE_BIAS, 0},
                                                  {GL_POST_CONVOLUTION_ALPHA_BIAS, 0},
                                                  {GL_POST_COLOR_MATRIX_RED_SCALE, 1},
                                                  {GL_POST_COLOR_MATRIX_GREEN_SCALE, 1},
                                                  {GL_POST_COLOR_MATRIX_BLUE_SCALE, 1},
                                                  {GL_POST_COLOR_MATRIX_ALPHA_SCALE, 1},
                                                  {GL_POST_COLOR_MATRIX_RED_BIAS, 0},
                                                  {GL_POST_COLOR_MATRIX_GREEN_BIAS, 0},
                                                  {GL_POST_COLOR_MATRIX_BLUE_BIAS, 0},
                                                  {GL_POST_COLOR_MATRIX_ALPHA_BIAS, 0}}};
constexpr std::size_t plain_transfers = 14;

constexpr std::array<float, 16> identity{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

std::span<const Capability> capabilities(const Api& gl) {
    return std::span(all_capabilities).first(gl.ARB_imaging ? all_capabilities.size() : plain_capabilities);
}

std::span<const Transfer> transfers(const Api& gl) {
    return std::span(all_transfers).first(gl.ARB_imaging ? all_transfers.size() : plain_transfers);
}

void set(const Api& gl, GLenum capability, bool on) {
    (on ? gl.Enable : gl.Disable)(capability);
}

// NVIDIA's driver (580.159.04) multiplies every float pixel that it transfers by a matrix that was loaded, even by the
// identity. That turns infinity into NaN. A matrix set with glLoadIdentity is not applied.
void set_color_matrix(const Api& gl, const std::array<float, 16>& matrix) {
    GLint mode = 0;
    gl.GetIntegerv(GL_MATRIX_MODE, &mode);
    gl.MatrixMode(GL_COLOR);
    if (matrix == identity) {
        gl.LoadIdentity();
    } else {
        gl.LoadMatrixf(matrix.data());
    }
    gl.MatrixMode(static_cast<GLenum>(mode));
}

}  // namespace

void CompatibilityState::refuse_what_hides_passes(const Api& gl) {
    GLint list = 0, mode = GL_RENDER;
    gl.GetIntegerv(GL_LIST_INDEX, &list);
    if (list != 0) {
        throw InvalidArgument("display list " + std::to_string(list) +
                              " is being made in the OpenGL context, and would take the calls of quadmill; end it "
                              "(glEndList) before the call");
    }
    gl.GetIntegerv(GL_RENDER_MODE, &mode);
    if (mode != GL_RENDER) {
        throw InvalidArgument(
            "the OpenGL context is in selection or feedback mode, in which nothing is drawn; go back to "
            "glRenderMode(GL_RENDER) before the call");
    }
}

void CompatibilityState::save(const Api& gl) {
    capabilities_.clear();
    for (const auto& capability : capabilities(gl)) capabilities_.push_back(gl.IsEnabled(capability.name));
    transfers_.clear();
    for (const auto& transfer : transfers(gl)) gl.GetFloatv(transfer.name, &transfers_.emplace_back());
    if (gl.ARB_imaging) gl.GetFloatv(GL_COLOR_MATRIX, color_matrix_.data());
    gl.GetFloatv(GL_POINT_DISTANCE_ATTENUATION, point_attenuation_.data());
    gl.GetFloatv(GL_POINT_SIZE_MIN, &min_point_);
    gl.GetFloatv(GL_POINT_SIZE_MAX, &max_point_);
    gl.GetIntegerv(GL_POLYGON_MODE, polygon_mode_.data());
    gl.GetIntegerv(GL_CLAMP_FRAGMENT_COLOR, &clamp_fragments_);
}

void CompatibilityState::set_baseline(const Api& gl) {
    for (const auto& capability : capabilities(gl)) set(gl, capability.name, capability.in_core);
    for (const auto& transfer : transfers(gl)) gl.PixelTransferf(transfer.name, transfer.in_core);
    if (gl.ARB_imaging) set_color_matrix(gl, identity);
    constexpr std::array<float, 3> constant{1, 0, 0};
    gl.PointParameterfv(GL_POINT_DISTANCE_ATTENUATION, constant.data());
    gl.PointParameterf(GL_POINT_SIZE_MIN, 0);
    gl.PointParameterf(GL_POINT_SIZE_MAX, std::numeric_limits<float>::max());
    gl.ClampColor(GL_CLAMP_FRAGMENT_COLOR, GL_FALSE);
}

void CompatibilityState::restore(const Api& gl) const noexcept {
    const auto names = capabilities(gl);
    for (std::size_t i = 0; i < names.size(); ++i) set(gl, names[i].name, capabilities_[i]);
    const auto kinds = transfers(gl);
    for (std::size_t i = 0; i < kinds.size(); ++i) gl.PixelTransferf(kinds[i].name, transfers_[i]);
    if (gl.ARB_imaging) set_color_matrix(gl, color_matrix_);
    gl.PointParameterfv(GL_POINT_DISTANCE_ATTENUATION, point_attenuation_.data());
    gl.PointParameterf(GL_POINT_SIZE_MIN, min_point_);
    gl.PointParameterf(GL_POINT_SIZE_MAX, max_point_);
    gl.PolygonMode(GL_FRONT, static_cast<GLenum>(polygon_mode_[0]));
    gl.PolygonMode(GL_BACK, static_cast<GLenum>(polygon_mode_[1]));
    gl.ClampColor(GL_CLAMP_FRAGMENT_COLOR, static_cast<GLenum>(clamp_fragments_));
}

}  // namespace quadmill::detail::gl
