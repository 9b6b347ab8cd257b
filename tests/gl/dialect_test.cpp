// Versions of OpenGL below 4.5: what the library draws with them, and that their state is restored. The calls here are
// common to OpenGL 3.3 and OpenGL ES 3.0.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/host.hpp"
#include "gl/host_level.hpp"
#include "quadmill/error.hpp"
#include "quadmill/picture.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sketch.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

struct Version {
    OpenGl api;
    const char* name;
};
constexpr std::array<Version, 3> all_versions{
    {{OpenGl::Desktop41, "gl41"}, {OpenGl::Desktop33, "gl33"}, {OpenGl::Es3, "es3"}}};

// Only the version of QUADMILL_API if that is set. Mesa then has no newer one, if MESA_GL_VERSION_OVERRIDE or
// MESA_GLES_VERSION_OVERRIDE is set, too. It reads these once per process.
std::span<const Version> the_versions() {
    const char* const one = std::getenv("QUADMILL_API");  // NOLINT(concurrency-mt-unsafe): no thread sets any
    if (!one) return all_versions;
    const auto* const found = std::ranges::find(all_versions, std::string_view(one), &Version::name);
    if (found == all_versions.end()) return all_versions;
    return {found, 1};
}
const std::span<const Version> versions = the_versions();

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
State state_of(const Api& gl) {
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

std::vector<std::uint32_t> some_keys(std::size_t n) {
    std::vector<std::uint32_t> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(i * 2654435761U) >> 7U;
    return keys;
}

GLuint texture_of(const Api& gl, GLint width, GLint height, const std::uint32_t* keys) {
    GLuint id = 0;
    gl.GenTextures(1, &id);
    gl.BindTexture(GL_TEXTURE_2D, id);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32UI, width, height, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, keys);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl.BindTexture(GL_TEXTURE_2D, 0);
    return id;
}

std::vector<std::uint32_t> texels_of(const Api& gl, GLuint texture, GLint width, GLint height) {
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

std::vector<std::uint32_t> order_of(const std::vector<std::uint32_t>& keys) {
    std::vector<std::uint32_t> index(keys.size());
    std::iota(index.begin(), index.end(), 0U);
    std::ranges::stable_sort(index, {}, [&](std::uint32_t i) { return keys[i]; });
    return index;
}

}  // namespace

TEST_CASE("A context of an older version reports which version the library uses") {
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const auto context = Context::headless({.api = version.api});
        CHECK(context.info().api == version.api);
    }
    if (versions.size() > 1) CHECK(Context::headless().info().api == OpenGl::Desktop45);
}

TEST_CASE("In each version of OpenGL, sorts are right and the application's state is restored") {
    const auto keys = some_keys(10'000);
    auto expected = keys;
    std::ranges::sort(expected);
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const OlderHost host(version);
        auto context = Context::adopt();
        Sorter sorter(context, {.engine = Engine::Merge});
        const Disturbed disturbed(host.gl);
        const auto before = state_of(host.gl);
        auto sorted = keys;
        sorter.sort(sorted);
        CHECK(sorted == expected);
        std::vector<std::uint32_t> index(keys.size());
        auto copy = keys;
        sorter.argsort(copy, index);
        CHECK(index == order_of(keys));
        for (const auto engine : {Engine::Bitonic, Engine::Pbsn}) {
            std::vector<float> floats(keys.begin(), keys.end()), in_order(expected.begin(), expected.end());
            Sorter(context, {.engine = engine}).sort(floats);
            CHECK(floats == in_order);
        }
        CHECK(state_of(host.gl) == before);
        CHECK(host.gl.GetError() == GL_NO_ERROR);
    }
}

TEST_CASE("In each version of OpenGL, the texels of an application's texture are sorted, and their order is written") {
    constexpr GLint width = 100, height = 70;
    const auto keys = some_keys(width * height);
    auto expected = keys;
    std::ranges::sort(expected);
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const OlderHost host(version);
        auto context = Context::adopt();
        Sorter sorter(context, {.engine = Engine::Merge});
        const auto from = texture_of(host.gl, width, height, keys.data());
        const auto index = texture_of(host.gl, width, height, nullptr), marks = texture_of(host.gl, 3, 1, nullptr);
        {
            const Disturbed disturbed(host.gl);
            const auto before = state_of(host.gl);
            sorter.argsort_texture(from, index);
            sorter.percentiles_texture({.texture = from}, std::array{0.0, 0.25, 1.0}, marks);
            sorter.sort_texture(TextureRegion{.texture = from}, TextureRegion{.texture = from});
            CHECK(state_of(host.gl) == before);
        }
        host.gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        host.gl.PixelStorei(GL_PACK_ALIGNMENT, 4);
        host.gl.PixelStorei(GL_PACK_ROW_LENGTH, 0);
        host.gl.PixelStorei(GL_PACK_SKIP_ROWS, 0);
        CHECK(texels_of(host.gl, index, width, height) == order_of(keys));
        CHECK(texels_of(host.gl, from, width, height) == expected);
        CHECK(texels_of(host.gl, marks, 3, 1) == std::vector{expected.front(), expected[1750], expected.back()});
        CHECK(host.gl.GetError() == GL_NO_ERROR);
    }
}

TEST_CASE("In each version of OpenGL, percentiles of floats are exact and do not count NaNs") {
    constexpr GLint width = 50, height = 40;
    std::vector<float> keys(width * height, std::numeric_limits<float>::quiet_NaN()), numbers;
    for (std::size_t i = 0; i < keys.size(); i += 2) numbers.push_back(keys[i] = static_cast<float>(i * 7919 % 2000));
    std::ranges::sort(numbers);
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const OlderHost host(version);
        const auto& gl = host.gl;
        Sorter sorter(Context::adopt(), {.engine = Engine::Merge});
        std::array<GLuint, 2> made{};
        gl.GenTextures(2, made.data());
        for (const auto id : made) {
            gl.BindTexture(GL_TEXTURE_2D, id);
            gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32F, width, height, 0, GL_RED, GL_FLOAT, keys.data());
            gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        }
        gl.BindTexture(GL_TEXTURE_2D, 0);
        sorter.percentiles_texture({.texture = made[0]}, std::array{0.0, 0.5, 1.0}, made[1]);
        GLuint framebuffer = 0;
        gl.GenFramebuffers(1, &framebuffer);
        gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
        gl.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, made[1], 0);
        std::array<float, 12> found{};
        gl.ReadPixels(0, 0, 3, 1, GL_RGBA, GL_FLOAT, found.data());
        CHECK(found[0] == numbers.front());
        CHECK(found[4] == numbers[500]);
        CHECK(found[8] == numbers.back());
        gl.DeleteFramebuffers(1, &framebuffer);
        gl.DeleteTextures(2, made.data());
        CHECK(gl.GetError() == GL_NO_ERROR);
    }
}

TEST_CASE("In each version of OpenGL, pictures are counted and measured") {
    constexpr GLint width = 50, height = 40, bins = 100;
    std::vector<float> texels(4 * width * height, 0.5F);
    std::vector<std::uint32_t> counts(bins), sums(bins);
    for (std::size_t i = 0; i < width * height; ++i) {
        const auto bin = i * i % 97;
        texels[4 * i + 1] = i % 7 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(bin) + 0.5F;
        if (i % 7 != 0) ++counts[bin];
    }
    std::partial_sum(counts.begin(), counts.end(), sums.begin());
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const OlderHost host(version);
        const auto& gl = host.gl;
        PictureStatistics statistics(Context::adopt());
        GLuint picture = 0;
        gl.GenTextures(1, &picture);
        gl.BindTexture(GL_TEXTURE_2D, picture);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, width, height, 0, GL_RGBA, GL_FLOAT, texels.data());
        const std::vector<std::uint32_t> empty(bins);
        const GLuint histogram = texture_of(gl, bins, 1, empty.data()),
                     cumulative = texture_of(gl, bins, 1, empty.data());
        std::array<GLuint, 3> floats{};
        gl.GenTextures(3, floats.data());
        gl.BindTexture(GL_TEXTURE_2D, floats[0]);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32F, bins, 1, 0, GL_RED, GL_FLOAT, nullptr);
        gl.BindTexture(GL_TEXTURE_2D, floats[1]);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, 1, 1, 0, GL_RGBA, GL_FLOAT, nullptr);
        gl.BindTexture(GL_TEXTURE_2D, floats[2]);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32F, 5, 1, 0, GL_RED, GL_FLOAT, nullptr);
        {
            const Disturbed disturbed(gl);
            const auto before = state_of(gl);
            statistics.measure(
                {.texture = picture}, {histogram, cumulative, floats[0], floats[1], floats[2]},
                {.weights = {0, 1, 0, 0}, .bins = bins, .low = 0, .high = bins, .phi = {0, 0.25, 0.5, 0.75, 1}});
            CHECK(state_of(gl) == before);
        }
        gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        gl.PixelStorei(GL_PACK_ALIGNMENT, 4);
        gl.PixelStorei(GL_PACK_ROW_LENGTH, 0);
        gl.PixelStorei(GL_PACK_SKIP_ROWS, 0);
        CHECK(texels_of(gl, histogram, bins, 1) == counts);
        CHECK(texels_of(gl, cumulative, bins, 1) == sums);
        GLuint framebuffer = 0;
        gl.GenFramebuffers(1, &framebuffer);
        gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
        const auto read = [&](GLuint texture, GLint x) {
            std::array<float, 4> texel{};
            gl.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
            gl.ReadPixels(x, 0, 1, 1, GL_RGBA, GL_FLOAT, texel.data());
            return texel;
        };
        const auto first = static_cast<float>(counts[0]), all = static_cast<float>(sums.back());
        CHECK(read(floats[0], 0)[0] == 0);
        CHECK(read(floats[0], 50)[0] == doctest::Approx((static_cast<float>(sums[50]) - first) / (all - first)));
        CHECK(read(floats[0], bins - 1)[0] == 1);
        const auto range = read(floats[1], 0);
        CHECK(range[0] == 0.5F);
        CHECK(range[1] == 96.5F);
        double total = 0;
        for (std::size_t bin = 0; bin < bins; ++bin) total += (static_cast<double>(bin) + 0.5) * counts[bin];
        CHECK(range[2] == doctest::Approx(total / all).epsilon(0x1p-16));
        CHECK(range[3] == all);
        for (GLint i = 0; i < 5; ++i) {
            const auto rank = static_cast<std::uint32_t>(std::floor(0.25 * i * (sums.back() - 1) + 0.5));
            CHECK(read(floats[2], i)[0] ==
                  static_cast<float>(std::ranges::upper_bound(sums, rank) - sums.begin()) + 0.5F);
        }
        gl.DeleteFramebuffers(1, &framebuffer);
        for (const auto id : {picture, histogram, cumulative, floats[0], floats[1], floats[2]})
            gl.DeleteTextures(1, &id);
        CHECK(gl.GetError() == GL_NO_ERROR);
    }
}

TEST_CASE("In each version of OpenGL, the size and the format of an application's textures are known") {
    struct Case {
        GLenum target, internal, format, type;
        int width, height, depth;
    };
    // Cube maps report one face. The last three are of formats that the library does not take.
    constexpr std::array<Case, 15> cases{{{GL_TEXTURE_2D, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 37, 5, 1},
                                          {GL_TEXTURE_2D, GL_R32I, GL_RED_INTEGER, GL_INT, 1, 1, 1},
                                          {GL_TEXTURE_2D, GL_R32F, GL_RED, GL_FLOAT, 2048, 3, 1},
                                          {GL_TEXTURE_2D, GL_R16F, GL_RED, GL_HALF_FLOAT, 9, 9, 1},
                                          {GL_TEXTURE_2D, GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 9, 9, 1},
                                          {GL_TEXTURE_2D, GL_R8, GL_RED, GL_UNSIGNED_BYTE, 16, 2, 1},
                                          {GL_TEXTURE_2D, GL_RG32F, GL_RG, GL_FLOAT, 2, 16, 1},
                                          {GL_TEXTURE_2D, GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 8, 4, 1},
                                          {GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 8, 4, 1},
                                          {GL_TEXTURE_2D, GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT, 8, 6, 1},
                                          {GL_TEXTURE_2D_ARRAY, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 7, 5, 3},
                                          {GL_TEXTURE_CUBE_MAP, GL_R32F, GL_RED, GL_FLOAT, 12, 12, 1},
                                          {GL_TEXTURE_2D, GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 8, 4, 1},
                                          {GL_TEXTURE_2D, GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 8, 4, 1},
                                          {GL_TEXTURE_2D, GL_RG16I, GL_RG_INTEGER, GL_SHORT, 8, 4, 1}}};
    for (const auto& version : versions) {
        const OlderHost host(version);
        const auto& gl = host.gl;
        auto context = Context::adopt();
        auto& device = *detail::Access::of(context);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            CAPTURE(version.name);
            CAPTURE(i);
            const auto& [target, internal, format, type, width, height, depth] = cases.at(i);
            GLuint texture = 0;
            gl.GenTextures(1, &texture);
            gl.BindTexture(target, texture);
            const detail::gl::Scope scope(device, "test");
            CHECK(detail::gl::level_of(device, texture, target).width == 0);
            gl.BindTexture(target, texture);
            if (target == GL_TEXTURE_2D_ARRAY) {
                gl.TexImage3D(target, 0, static_cast<GLint>(internal), width, height, depth, 0, format, type, nullptr);
            } else {
                const GLenum plane = target == GL_TEXTURE_2D ? target : GL_TEXTURE_CUBE_MAP_POSITIVE_X;
                for (GLenum face = 0; face < (target == GL_TEXTURE_2D ? 1U : 6U); ++face) {
                    gl.TexImage2D(plane + face, 0, static_cast<GLint>(internal), width, height, 0, format, type,
                                  nullptr);
                }
            }
            const auto level = detail::gl::level_of(device, texture, target);
            if (i < 12 || level.format != 0) {
                CHECK(level.format == internal);
                CHECK(level.width == width);
                CHECK(level.height == height);
                CHECK(level.depth == depth);
            }
            gl.DeleteTextures(1, &texture);
            CHECK(gl.GetError() == GL_NO_ERROR);
        }
    }
}

TEST_CASE("In each version of OpenGL, keys in an application's buffer are sorted, and their order is written") {
    const auto keys = some_keys(5'000);
    auto expected = keys;
    std::ranges::sort(expected);
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const OlderHost host(version);
        const auto& gl = host.gl;
        auto context = Context::adopt();
        Sorter sorter(context, {.engine = Engine::Merge});
        std::array<GLuint, 3> buffers{};
        gl.GenBuffers(3, buffers.data());
        const auto bytes = static_cast<GLsizeiptr>(keys.size() * sizeof(std::uint32_t));
        for (const auto buffer : buffers) {
            gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
            gl.BufferData(GL_ARRAY_BUFFER, bytes, keys.data(), GL_DYNAMIC_DRAW);
        }
        const auto content = [&](GLuint buffer) {
            std::vector<std::uint32_t> words(keys.size());
            gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
            const void* const from = gl.MapBufferRange(GL_ARRAY_BUFFER, 0, bytes, GL_MAP_READ_BIT);
            REQUIRE(from != nullptr);
            std::copy_n(static_cast<const std::uint32_t*>(from), words.size(), words.data());
            gl.UnmapBuffer(GL_ARRAY_BUFFER);
            return words;
        };
        const BufferKeys where{.buffer = buffers[0], .type = KeyType::U32};
        sorter.argsort_buffer(where, keys.size(), buffers[1], 0);
        CHECK(content(buffers[1]) == order_of(keys));

        // The number of keys is in a buffer: those beyond it stay, and their indices come last.
        constexpr std::uint32_t number = 3'000;
        gl.BindBuffer(GL_ARRAY_BUFFER, buffers[2]);
        gl.BufferSubData(GL_ARRAY_BUFFER, 4, sizeof number, &number);
        auto counted = where;
        counted.counted = CountInBuffer{buffers[2], 4};
        sorter.argsort_buffer(counted, keys.size(), buffers[1]);
        auto order = order_of({keys.begin(), keys.begin() + number});
        for (auto i = number; i < keys.size(); ++i) order.push_back(i);
        CHECK(content(buffers[1]) == order);
        const auto texels = texture_of(gl, 50, 100, keys.data()), indices = texture_of(gl, 50, 100, nullptr);
        sorter.argsort_texture({.texture = texels, .counted = counted.counted}, indices);
        CHECK(texels_of(gl, indices, 50, 100) == order);
        for (const auto id : {texels, indices}) gl.DeleteTextures(1, &id);
        sorter.sort_buffer(counted, keys.size());
        auto some_sorted = keys;
        std::ranges::sort(some_sorted.begin(), some_sorted.begin() + number);
        CHECK(content(buffers[0]) == some_sorted);

        sorter.sort_buffer(where, keys.size());
        CHECK(content(buffers[0]) == expected);
        gl.DeleteBuffers(3, buffers.data());
        CHECK(gl.GetError() == GL_NO_ERROR);
    }
}

TEST_CASE("Features that a version of OpenGL lacks are refused with the reason, and Auto takes another engine") {
    Table table;
    table.add("value", std::vector<float>{3, 1, 2});
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const auto context = Context::headless({.api = version.api});
        CHECK_THROWS_WITH_AS(QueryProcessor(context, {.engine = QueryEngine::Depth}), doctest::Contains("exact"),
                             InvalidArgument);
        QueryProcessor bitmap(context, {.engine = QueryEngine::Bitmap});
        CHECK(bitmap.count(table, column("value") > 1) == 2);
        CHECK(std::get<double>(bitmap.aggregate(table, {.kind = QueryAggregate::Kind::Sum, .column = "value"})) == 6);
        CHECK(QueryProcessor(context).count(table, column("value") > 1) == 2);
    }
}

TEST_CASE("Pbsn is refused if the driver does not blend floats") {
    const auto context = Context::headless({.api = OpenGl::Es3});
    detail::Access::of(context)->features.float_blending = false;
    std::vector<float> keys(1000);
    CHECK_THROWS_WITH_AS(Sorter(context, {.engine = Engine::Pbsn}).sort(keys), doctest::Contains("blends floats"),
                         InvalidArgument);
}

namespace {

// The driver's glBlendEquation, which takes the wrong equation while `is_wrong`.
struct WrongBlending {
    static inline bool is_wrong = false;
    static inline const Api* right = nullptr;
    static GLenum of(GLenum mode) {
        return !is_wrong ? mode : mode == GL_MIN ? GL_MAX : mode == GL_MAX ? GL_MIN : GL_FUNC_SUBTRACT;
    }
    static void GLAD_API_PTR equation(GLenum mode) { right->BlendEquation(of(mode)); }
    static void GLAD_API_PTR equation_of(GLuint target, GLenum mode) { right->BlendEquationi(target, of(mode)); }
};

}  // namespace

TEST_CASE("If a driver does not blend exactly, what blends is refused with the reason, and Auto takes another engine") {
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const OlderHost host(version);
        WrongBlending::right = &host.gl;
        // The driver may give a newer version than was asked for, which has an equation for each target.
        const auto context = Context::adopt([&](const char* name) {
            const std::string_view wanted(name);
            return wanted == "glBlendEquation"    ? reinterpret_cast<void (*)()>(&WrongBlending::equation)
                   : wanted == "glBlendEquationi" ? reinterpret_cast<void (*)()>(&WrongBlending::equation_of)
                                                  : host.proc_address(name);
        });
        const std::vector<float> keys{3, 1, 2};
        const std::vector<Half> halves{Half{0x4200}, Half{0x3c00}, Half{0x4000}};
        const std::vector<std::uint32_t> items(5000, 7);
        const auto estimate = [&](SketchEngine engine, std::uint32_t weight = 0) {
            Sketch<std::uint32_t> sketch(context, {.width = 4096, .engine = engine});
            const std::vector<std::uint32_t> weights(items.size(), weight);
            weight == 0 ? sketch.insert(items) : sketch.insert(items, weights);
            return sketch.query(items[0]).estimate;
        };
        const Disturbed disturbed(host.gl);
        const auto before = state_of(host.gl);
        {
            WrongBlending::is_wrong = true;
            auto sorted = keys;
            CHECK_THROWS_WITH_AS(Sorter(context, {.engine = Engine::Pbsn}).sort(sorted),
                                 doctest::Contains("does not blend 32-bit floats exactly"), InvalidArgument);
            CHECK_THROWS_WITH_AS(window_sorter(context, {.engine = Engine::Pbsn})->begin(sorted, 3),
                                 doctest::Contains("does not blend 32-bit floats exactly"), InvalidArgument);
            CHECK(sorted == keys);
            for (const auto engine : {SketchEngine::BlendCounters, SketchEngine::BlendBuckets}) {
                CHECK_THROWS_WITH_AS(estimate(engine), doctest::Contains("does not add 32-bit floats exactly"),
                                     InvalidArgument);
            }
            CHECK(estimate(SketchEngine::Sort) == 5000);
            CHECK(estimate(SketchEngine::Sort, 2) == 10'000);
        }
        WrongBlending::is_wrong = false;
        Sorter sorter(context, {.engine = Engine::Pbsn});
        auto sorted = keys;
        sorter.sort(sorted);
        CHECK(sorted == std::vector<float>{1, 2, 3});
        if (context.info().renderer.find("softpipe") == std::string::npos) {
            CHECK(estimate(SketchEngine::BlendCounters, 2) == 10'000);
        } else {  // it loses points
            CHECK_THROWS_WITH_AS(estimate(SketchEngine::BlendCounters, 2),
                                 doctest::Contains("does not add 32-bit floats exactly"), InvalidArgument);
        }
        WrongBlending::is_wrong = true;
        auto sorted_halves = halves;
        CHECK_THROWS_WITH_AS(sorter.sort(sorted_halves), doctest::Contains("does not blend 16-bit floats exactly"),
                             InvalidArgument);
        WrongBlending::is_wrong = false;
        sorter.sort(sorted_halves);
        CHECK(sorted_halves[0].bits == 0x3c00);
        CHECK(state_of(host.gl) == before);
        CHECK(host.gl.GetError() == GL_NO_ERROR);
    }
}

TEST_CASE("The library's textures have immutable storage if the version or an extension offers it") {
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const auto context = Context::headless({.api = version.api});
        auto& device = *detail::Access::of(context);
        const detail::gl::Scope scope(device, "test");
        GLint extensions = 0;
        bool expected = version.api == OpenGl::Es3;
        device.gl.GetIntegerv(GL_NUM_EXTENSIONS, &extensions);
        for (GLuint i = 0; i < static_cast<GLuint>(extensions); ++i) {
            const auto* const name = reinterpret_cast<const char*>(device.gl.GetStringi(GL_EXTENSIONS, i));
            expected |= name == std::string_view("GL_ARB_texture_storage");
        }
        for (const int layers : {0, 3}) {
            const detail::gl::Texture texture(device, detail::gl::Format::Rgba32ui, 5, 7, layers);
            const GLenum target = layers == 0 ? GL_TEXTURE_2D : GL_TEXTURE_2D_ARRAY;
            CHECK((device.dialect->texture_parameter(texture.id(), target, GL_TEXTURE_IMMUTABLE_FORMAT) != 0) ==
                  expected);
        }
    }
}

TEST_CASE("A context of any version can be made for debugging") {
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const auto context = Context::headless({.api = version.api, .on_debug_message = [](std::string_view) {}});
        std::vector<std::uint32_t> keys{3, 1, 2};
        Sorter(context, {.engine = Engine::Merge}).sort(keys);
        CHECK(std::ranges::is_sorted(keys));
    }
}
