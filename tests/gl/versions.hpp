// Applications in each version of OpenGL below 4.5, with calls that are common to OpenGL 3.3 and OpenGL ES 3.0.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/host.hpp"

namespace quadmill::test {

struct Version {
    OpenGl api;
    const char* name;
};
inline constexpr std::array<Version, 3> all_versions{
    {{OpenGl::Desktop41, "gl41"}, {OpenGl::Desktop33, "gl33"}, {OpenGl::Es3, "es3"}}};

// Only the version of QUADMILL_API if that is set. Mesa then has no newer one, if MESA_GL_VERSION_OVERRIDE or
// MESA_GLES_VERSION_OVERRIDE is set, too. It reads these once per process.
inline std::span<const Version> the_versions() {
    const char* const one = std::getenv("QUADMILL_API");  // NOLINT(concurrency-mt-unsafe): no thread sets any
    if (!one) return all_versions;
    const auto* const found = std::ranges::find(all_versions, std::string_view(one), &Version::name);
    if (found == all_versions.end()) return all_versions;
    return {found, 1};
}
inline const std::span<const Version> versions = the_versions();

// An application's context of that version, current on this thread, and the library's table of its functions.
class OlderHost {
  public:
    explicit OlderHost(const Version& version)
        : opened_(Context::headless({.api = version.api})), gl(detail::Access::of(opened_)->gl) {
        opened_.make_current();
    }
    OlderHost(const OlderHost&) = delete;
    OlderHost& operator=(const OlderHost&) = delete;
    ~OlderHost() { release_current(); }
    [[nodiscard]] void (*proc_address(const char* name) const)() { return opened_.proc_address(name); }

  private:
    Context opened_;

  public:
    const Api& gl;
};

using State = std::vector<std::pair<std::string, std::int64_t>>;

// State for which both kinds of OpenGL have getters.
inline State state_of(const Api& gl) {
    State all;
    const auto add = [&](const char* name, GLenum what, std::size_t count = 1) {
        std::array<GLint, 16> values{};
        gl.GetIntegerv(what, values.data());
        for (std::size_t i = 0; i < count; ++i) all.emplace_back(name, values.at(i));
    };
#define QUADMILL_ADD(what, ...) add(#what, what __VA_OPT__(, ) __VA_ARGS__)
    QUADMILL_ADD(GL_ACTIVE_TEXTURE);
    QUADMILL_ADD(GL_ARRAY_BUFFER_BINDING);
    QUADMILL_ADD(GL_PIXEL_PACK_BUFFER_BINDING);
    QUADMILL_ADD(GL_PIXEL_UNPACK_BUFFER_BINDING);
    QUADMILL_ADD(GL_DRAW_FRAMEBUFFER_BINDING);
    QUADMILL_ADD(GL_READ_FRAMEBUFFER_BINDING);
    QUADMILL_ADD(GL_RENDERBUFFER_BINDING);
    QUADMILL_ADD(GL_VERTEX_ARRAY_BINDING);
    QUADMILL_ADD(GL_CURRENT_PROGRAM);
    QUADMILL_ADD(GL_VIEWPORT, 4);
    QUADMILL_ADD(GL_SCISSOR_BOX, 4);
    QUADMILL_ADD(GL_COLOR_WRITEMASK, 4);
    QUADMILL_ADD(GL_COLOR_CLEAR_VALUE, 4);
    QUADMILL_ADD(GL_DEPTH_FUNC);
    QUADMILL_ADD(GL_DEPTH_WRITEMASK);
    QUADMILL_ADD(GL_BLEND_EQUATION_RGB);
    QUADMILL_ADD(GL_BLEND_EQUATION_ALPHA);
    QUADMILL_ADD(GL_BLEND_SRC_RGB);
    QUADMILL_ADD(GL_BLEND_DST_RGB);
    QUADMILL_ADD(GL_BLEND_SRC_ALPHA);
    QUADMILL_ADD(GL_BLEND_DST_ALPHA);
    QUADMILL_ADD(GL_STENCIL_FUNC);
    QUADMILL_ADD(GL_STENCIL_REF);
    QUADMILL_ADD(GL_STENCIL_WRITEMASK);
    QUADMILL_ADD(GL_STENCIL_FAIL);
    QUADMILL_ADD(GL_CULL_FACE_MODE);
    QUADMILL_ADD(GL_FRONT_FACE);
    QUADMILL_ADD(GL_PACK_ALIGNMENT);
    QUADMILL_ADD(GL_PACK_ROW_LENGTH);
    QUADMILL_ADD(GL_PACK_SKIP_ROWS);
    QUADMILL_ADD(GL_PACK_SKIP_PIXELS);
    QUADMILL_ADD(GL_UNPACK_ALIGNMENT);
    QUADMILL_ADD(GL_UNPACK_ROW_LENGTH);
    QUADMILL_ADD(GL_UNPACK_SKIP_ROWS);
    QUADMILL_ADD(GL_UNPACK_SKIP_PIXELS);
    QUADMILL_ADD(GL_UNPACK_IMAGE_HEIGHT);
#undef QUADMILL_ADD
    std::array<GLfloat, 2> range{};
    gl.GetFloatv(GL_DEPTH_RANGE, range.data());
    for (const auto bound : range) all.emplace_back("GL_DEPTH_RANGE", static_cast<std::int64_t>(bound * 1000));
    for (const auto what : std::initializer_list<GLenum>{
             GL_BLEND, GL_CULL_FACE, GL_DEPTH_TEST, GL_STENCIL_TEST, GL_SCISSOR_TEST, GL_DITHER, GL_POLYGON_OFFSET_FILL,
             GL_RASTERIZER_DISCARD, GL_SAMPLE_COVERAGE, GL_SAMPLE_ALPHA_TO_COVERAGE})
        all.emplace_back("capability " + std::to_string(what), gl.IsEnabled(what));
    GLint active = 0;
    gl.GetIntegerv(GL_ACTIVE_TEXTURE, &active);
    for (GLuint unit = 0; unit < 10; ++unit) {
        gl.ActiveTexture(GL_TEXTURE0 + unit);
        add("texture", GL_TEXTURE_BINDING_2D);
        add("array", GL_TEXTURE_BINDING_2D_ARRAY);
        add("sampler", GL_SAMPLER_BINDING);
    }
    gl.ActiveTexture(static_cast<GLenum>(active));
    return all;
}

// Sets nearly all of that state to values that would harm passes, or be harmed by them.
class Disturbed {
  public:
    explicit Disturbed(const Api& of) : gl(of) {
        gl.GenTextures(1, &texture_);
        gl.GenBuffers(1, &buffer_);
        gl.GenFramebuffers(1, &framebuffer_);
        gl.GenVertexArrays(1, &vertex_array_);
        gl.ActiveTexture(GL_TEXTURE0);
        gl.BindTexture(GL_TEXTURE_2D, texture_);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
        gl.ActiveTexture(GL_TEXTURE3);
        gl.BindTexture(GL_TEXTURE_2D, texture_);
        gl.BindBuffer(GL_ARRAY_BUFFER, buffer_);
        gl.BindBuffer(GL_PIXEL_PACK_BUFFER, buffer_);
        gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer_);
        gl.BindVertexArray(vertex_array_);
        gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
        gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_, 0);
        gl.Viewport(1, 2, 3, 4);
        gl.Scissor(1, 1, 2, 2);
        gl.ColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
        gl.DepthFunc(GL_GREATER);
        gl.DepthMask(GL_FALSE);
        gl.BlendEquationSeparate(GL_FUNC_SUBTRACT, GL_MAX);
        gl.BlendFuncSeparate(GL_ZERO, GL_SRC_COLOR, GL_DST_ALPHA, GL_ONE);
        gl.StencilFunc(GL_NEVER, 3, 0x0f);
        gl.CullFace(GL_FRONT_AND_BACK);
        gl.PixelStorei(GL_PACK_ALIGNMENT, 8);
        gl.PixelStorei(GL_PACK_ROW_LENGTH, 77);
        gl.PixelStorei(GL_PACK_SKIP_ROWS, 2);
        gl.PixelStorei(GL_UNPACK_ALIGNMENT, 2);
        gl.PixelStorei(GL_UNPACK_ROW_LENGTH, 99);
        gl.PixelStorei(GL_UNPACK_SKIP_PIXELS, 5);
        for (const auto what : capabilities) gl.Enable(what);
    }
    Disturbed(const Disturbed&) = delete;
    Disturbed& operator=(const Disturbed&) = delete;
    ~Disturbed() {
        for (const auto what : capabilities) gl.Disable(what);
        gl.DeleteFramebuffers(1, &framebuffer_);
        gl.DeleteVertexArrays(1, &vertex_array_);
        gl.DeleteBuffers(1, &buffer_);
        gl.DeleteTextures(1, &texture_);
    }

  private:
    static constexpr std::array<GLenum, 8> capabilities{
        GL_BLEND,        GL_CULL_FACE,           GL_DEPTH_TEST,         GL_STENCIL_TEST,
        GL_SCISSOR_TEST, GL_POLYGON_OFFSET_FILL, GL_RASTERIZER_DISCARD, GL_SAMPLE_ALPHA_TO_COVERAGE};
    const Api& gl;
    GLuint texture_ = 0, buffer_ = 0, framebuffer_ = 0, vertex_array_ = 0;
};

inline std::vector<std::uint32_t> some_keys(std::size_t n) {
    std::vector<std::uint32_t> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(i * 2654435761U) >> 7U;
    return keys;
}

inline GLuint texture_of(const Api& gl, GLint width, GLint height, const std::uint32_t* keys) {
    GLuint id = 0;
    gl.GenTextures(1, &id);
    gl.BindTexture(GL_TEXTURE_2D, id);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32UI, width, height, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, keys);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl.BindTexture(GL_TEXTURE_2D, 0);
    return id;
}

inline std::vector<std::uint32_t> texels_of(const Api& gl, GLuint texture, GLint width, GLint height) {
    GLuint framebuffer = 0;
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    gl.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    std::vector<std::uint32_t> four(4 * static_cast<std::size_t>(width * height));
    gl.ReadPixels(0, 0, width, height, GL_RGBA_INTEGER, GL_UNSIGNED_INT, four.data());
    gl.DeleteFramebuffers(1, &framebuffer);
    std::vector<std::uint32_t> texels(four.size() / 4);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = four[4 * i];
    return texels;
}

inline std::vector<std::uint32_t> order_of(const std::vector<std::uint32_t>& keys) {
    std::vector<std::uint32_t> index(keys.size());
    std::iota(index.begin(), index.end(), 0U);
    std::ranges::stable_sort(index, {}, [&](std::uint32_t i) { return keys[i]; });
    return index;
}

}  // namespace quadmill::test
