// Versions of OpenGL below 4.5: what the library draws with them, and that their state is restored. The calls here are
// common to OpenGL 3.3 and OpenGL ES 3.0.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gl/device.hpp"
#include "gl/host_level.hpp"
#include "gl/pixels.hpp"
#include "gl/versions.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"
#include "quadmill/picture.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sketch.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

TEST_CASE("A context of an older version reports which version the library uses") {
    for (const auto& version : versions) {
        CAPTURE(version.name);
        const auto context = Context::headless({.api = version.api});
        CHECK(context.info().api == version.api);
    }
    if (versions.size() > 1) CHECK(Context::headless().info().api == OpenGl::Desktop45);
}

TEST_CASE("In each version of OpenGL, an array texture of one layer is read back, whole and as a pass's target") {
    for (const auto& version : versions) {
        CAPTURE(version.name);
        auto context = Context::headless({.api = version.api});
        auto& device = *detail::Access::of(context);
        const detail::gl::Scope scope(device, "test");
        const detail::gl::Texture texture(device, detail::gl::Format::Rgba32ui, 4, 2, 1);
        const detail::gl::Framebuffer target(device, texture);
        detail::gl::clear_texels(device, texture, 0, 0, 4, 2, 0x07070707);
        const std::vector expected(std::size_t{4} * 2 * 16, std::byte{7});
        CHECK(detail::gl::read_texels(device, texture) == expected);
        const detail::gl::Pass pass{.name = "test", .target = &target};
        CHECK(detail::gl::read_target(device, {.name = "test",
                                               .target = texture.id(),
                                               .width = 4,
                                               .height = 2,
                                               .format = "RGBA32UI",
                                               .pass = &pass}) == expected);
        scope.check();
    }
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

namespace {

// One cell of the table of docs/limits.md: "x" if the work succeeds, "-" and the reason if it is refused.
std::string cell_of(const std::function<void()>& work) {
    try {
        work();
        return "x";
    } catch (const InvalidArgument& error) {
        return std::string("- (") + error.what() + ")";
    }
}

// The first column of the table, and the cell of that version.
std::vector<std::pair<const char*, std::string>> cells_of(const Version& version) {
    const OlderHost host(version);
    const auto context = Context::adopt();
    const auto& features = detail::Access::of(context)->features;
    const auto keys = some_keys(3000);
    auto in_order = keys;
    std::ranges::sort(in_order);
    const auto sorts = [&]<class Key>(Key, const SortOptions& options) {
        std::vector<Key> some(keys.begin(), keys.end()), expected = some;
        std::ranges::sort(expected);
        Sorter(context, options).sort(some);
        CHECK(some == expected);
    };
    std::vector<std::pair<const char*, std::string>> cells;
    const auto row = [&](const char* name, const std::function<void()>& work) {
        cells.emplace_back(name, cell_of(work));
    };
    row("sort, argsort of all types", [&] {
        for (const auto engine : {Engine::Merge, Engine::Bitonic}) {
            const auto of_types = [&](auto... key) { (sorts(key, {.engine = engine}), ...); };
            of_types(float{}, double{}, std::int32_t{}, std::uint32_t{}, std::int64_t{}, std::uint64_t{});
            std::vector<std::uint32_t> index(keys.size());
            Sorter(context, {.engine = engine}).argsort(keys, index);
            CHECK(index == order_of(keys));
        }
        Sorter sorter(context, {.engine = Engine::Merge});
        std::vector<std::uint32_t> best(10);
        sorter.top(keys, best);
        CHECK(std::ranges::equal(best, std::span(in_order).first(10)));
        auto halves = keys;
        sorter.sort_segments(halves, std::array<std::size_t, 2>{1000, 3000});
        CHECK(std::is_sorted(halves.begin() + 1000, halves.end()));
    });
    row("sort of 32-bit and 16-bit floats with Pbsn", [&] {
        sorts(float{}, {.engine = Engine::Pbsn});
        std::vector<Half> halves{Half{0x4200}, Half{0x3c00}, Half{0x4000}};
        Sorter(context, {.engine = Engine::Pbsn}).sort(halves);
        CHECK(halves[0].bits == 0x3c00);
    });
    cells.emplace_back("PBSN's early stop",
                       features.conditional_draws ? "on the GPU" : "ES has no conditional rendering");
    row("`argsort_texture`, `sort_texture`", [&] {
        const auto from = texture_of(host.gl, 60, 50, keys.data()), index = texture_of(host.gl, 60, 50, nullptr);
        Sorter sorter(context);
        sorter.argsort_texture(from, index);
        sorter.sort_texture(TextureRegion{.texture = from}, TextureRegion{.texture = from});
        CHECK(texels_of(host.gl, index, 60, 50) == order_of(keys));
        CHECK(texels_of(host.gl, from, 60, 50) == in_order);
    });
    row("your OpenGL state is restored", [&] {
        const Disturbed disturbed(host.gl);
        const auto before = state_of(host.gl);
        sorts(std::uint32_t{}, {.engine = Engine::Merge});
        CHECK(state_of(host.gl) == before);
    });
    Table table;
    table.add("key", keys);
    const auto wanted = static_cast<std::uint64_t>(std::ranges::count_if(keys, [](auto key) { return key > 1000; }));
    const auto counts = [&](QueryEngine engine) {
        QueryProcessor processor(context, {.engine = engine});  // may refuse
        CHECK(processor.count(table, column("key") > 1000) == wanted);
    };
    row("queries, groups and joins with `Bitmap`", [&] { counts(QueryEngine::Bitmap); });
    row("sketches with every engine", [&] {
        for (const auto engine :
             {SketchEngine::BlendCounters, SketchEngine::BlendBuckets, SketchEngine::BlendPacked, SketchEngine::Sort}) {
            Sketch<std::uint32_t> sketch(context, {.width = 4096, .engine = engine});
            sketch.insert(keys);
            CHECK(sketch.query(keys[0]).upper >= 1);
        }
    });
    row("summaries of streams", [&] {
        Quantiles<std::uint32_t> summary({.eps = 0.01}, window_sorter(context, {.engine = Engine::Merge}));
        summary.add(keys);
        CHECK(summary.quantile(0.5).value <= in_order[1600]);
        CHECK(summary.quantile(0.5).value >= in_order[1400]);
    });
    row("LU, sums and extremes of matrices", [&] {
        const std::vector<float> values{2, 1, 1, 3};
        const MatrixView matrix{values, 2, 2};
        Lu lu(context);
        lu.factor(matrix);
        const auto x = lu.solve(std::vector<float>{3, 4});
        CHECK(x == std::vector<float>{1, 1});
        CHECK(Reducer(context).sums(matrix) == std::vector<float>{7});
    });
    row("queries with `Depth`", [&] { counts(QueryEngine::Depth); });
    cells.emplace_back("render targets that Merge writes", std::to_string(features.color_targets));
    row("merge kernel with subgroups",
        [&] { sorts(std::uint32_t{}, {.engine = Engine::Merge, .merge = {.kernel = MergeKernel::Subgroup}}); });
    PassProfiler profiler(context);
    sorts(std::uint32_t{}, {.engine = Engine::Merge});
    double ms = 0;
    for (const auto& pass : profiler.rows()) ms += pass.gpu_ms;
    cells.emplace_back("times of passes", ms > 0 ? "from the GPU" : "none");
    cells.emplace_back("saved programs", context.save_programs().empty() ? "-" : "x");
    return cells;
}

}  // namespace

// tests/gl/limits_table.py compares what this prints with the page. Adopted contexts are of the version of QUADMILL_API.
TEST_CASE("What works in each version of OpenGL") {
    const char* const one = std::getenv("QUADMILL_API");  // NOLINT(concurrency-mt-unsafe): no thread sets any
    const Version newest{OpenGl::Desktop45, "gl45"};
    const bool is_newest = one && std::string_view(one) == newest.name;
    for (const auto& version : is_newest ? std::span(&newest, 1) : versions) {
        CAPTURE(version.name);
        for (const auto& [name, cell] : cells_of(version))
            std::printf("cell|%s|%s|%s\n", name, version.name, cell.c_str());
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
