// Keys in textures and buffers of the application, in each version of OpenGL below 4.5 and in 4.5.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "gl/uploads.hpp"
#include "gl/versions.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

// 4.5, too, unless one version is asked for.
std::vector<Version> with_45() {
    std::vector<Version> all(versions.begin(), versions.end());
    if (all.size() > 1) all.push_back({OpenGl::Desktop45, "gl45"});
    return all;
}

double read_by_shader(const Uploaded& format, double value, int channel) {
    if (is_float(format) || is_integer(format)) return value;
    if (is_packed(format)) return channel == 3 ? value : value / 1023;
    const double share = value / (format.type == GL_UNSIGNED_BYTE ? 255 : 65535);
    const bool is_srgb = format.internal == GL_SRGB8 || format.internal == GL_SRGB8_ALPHA8;
    if (!is_srgb || channel == 3) return share;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
}

GLuint upload(const Api& gl, const Uploaded& format, int width, int height, const std::vector<int>& numbers) {
    const auto bytes = uploaded(format, numbers);
    GLuint id = 0;
    gl.GenTextures(1, &id);
    gl.BindTexture(GL_TEXTURE_2D, id);
    gl.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl.TexImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(format.internal), width, height, 0, format.format, format.type,
                  bytes.data());
    gl.PixelStorei(GL_UNPACK_ALIGNMENT, 4);
    // What a draw of the application may have left: no filter, and channels in another order.
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, GL_ONE);
    gl.BindTexture(GL_TEXTURE_2D, 0);
    return id;
}

GLuint target_of(const Api& gl, GLenum internal, GLenum format, GLenum type) {
    GLuint id = 0;
    gl.GenTextures(1, &id);
    gl.BindTexture(GL_TEXTURE_2D, id);
    gl.TexImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(internal), 3, 1, 0, format, type, nullptr);
    gl.BindTexture(GL_TEXTURE_2D, 0);
    return id;
}

template <class T>
std::array<double, 3> three_of(const Api& gl, GLuint texture, GLenum format, GLenum type) {
    GLuint framebuffer = 0;
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    gl.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    std::array<T, 12> texels{};
    gl.ReadPixels(0, 0, 3, 1, format, type, texels.data());
    gl.DeleteFramebuffers(1, &framebuffer);
    return {static_cast<double>(texels[0]), static_cast<double>(texels[4]), static_cast<double>(texels[8])};
}

// Argsorts and finds percentiles of a rectangle's channel.
void check_channel(const Api& gl, Sorter& sorter, const Uploaded& format, GLuint texture,
                   const std::vector<int>& numbers, int width, int channel) {
    constexpr int x = 3, y = 2, across = 17, up = 11;
    std::vector<double> keys;
    for (int i = 0; i < across * up; ++i) {
        const int texel = (y + i / across) * width + x + i % across;
        const auto number = numbers[static_cast<std::size_t>(texel * format.channels + channel)];
        keys.push_back(stored(format, number, channel));
    }
    std::vector<std::uint32_t> expected(keys.size());
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, {}, [&](std::uint32_t i) { return keys[i]; });
    const auto index = texture_of(gl, across, up, nullptr);
    const bool integers = is_integer(format), negative = is_signed(format);
    const auto marks = !integers  ? target_of(gl, GL_R32F, GL_RED, GL_FLOAT)
                       : negative ? target_of(gl, GL_R32I, GL_RED_INTEGER, GL_INT)
                                  : target_of(gl, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT);
    const TextureRegion region{.texture = texture, .x = x, .y = y, .width = across, .height = up};
    {
        const Disturbed disturbed(gl);
        const auto before = state_of(gl);
        sorter.argsort_texture(region, index, channel);
        sorter.percentiles_texture(region, std::array{0.0, 0.5, 1.0}, marks, channel);
        CHECK(state_of(gl) == before);
    }
    for (const auto what : {GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_PIXELS})
        gl.PixelStorei(static_cast<GLenum>(what), 0);
    for (const auto what : {GL_PACK_ALIGNMENT, GL_UNPACK_ALIGNMENT}) gl.PixelStorei(static_cast<GLenum>(what), 4);
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    CHECK(texels_of(gl, index, across, up) == expected);
    const auto found = !integers  ? three_of<float>(gl, marks, GL_RGBA, GL_FLOAT)
                       : negative ? three_of<std::int32_t>(gl, marks, GL_RGBA_INTEGER, GL_INT)
                                  : three_of<std::uint32_t>(gl, marks, GL_RGBA_INTEGER, GL_UNSIGNED_INT);
    const std::array<std::size_t, 3> at{0, (expected.size() - 1) / 2, expected.size() - 1};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto value = read_by_shader(format, keys[expected[at.at(i)]], channel);
        if (integers || is_float(format)) {
            CHECK(found.at(i) == value);
        } else {
            // NVIDIA's linear light of an sRGB byte is off by up to half a step of 8 bits.
            const bool srgb = format.internal == GL_SRGB8 || format.internal == GL_SRGB8_ALPHA8;
            CHECK(std::abs(found.at(i) - value) <= (srgb ? 0.5 / 255 : 1e-3));
        }
    }
    for (const auto id : {index, marks}) gl.DeleteTextures(1, &id);
}

}  // namespace

TEST_CASE("In each version of OpenGL, a channel of a texture of any format is a key") {
    constexpr int width = 23, height = 19;
    for (const auto& version : with_45()) {
        CAPTURE(version.name);
        const OlderHost host(version);
        const auto& gl = host.gl;
        Sorter sorter(Context::adopt(), {.engine = Engine::Merge});
        for (const auto& format : uploaded_formats) {
            CAPTURE(format.name);
            if (version.api == OpenGl::Es3 && !is_in_es(format)) continue;
            std::vector<int> numbers(static_cast<std::size_t>(width * height * format.channels));
            for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] = static_cast<int>(i * 2654435761U % 1'000'003 % 100);
            const auto texture = upload(gl, format, width, height, numbers);
            for (int channel = 0; channel < format.channels; ++channel)
                check_channel(gl, sorter, format, texture, numbers, width, channel);
            GLint swizzle = 0;
            gl.BindTexture(GL_TEXTURE_2D, texture);
            gl.GetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, &swizzle);
            CHECK(swizzle == GL_ONE);
            const auto index = texture_of(gl, width, height, nullptr);
            CHECK_THROWS_WITH_AS(sorter.argsort_texture({.texture = texture}, index, format.channels),
                                 doctest::Contains("channels, so there is no channel"), InvalidArgument);
            for (const auto id : {texture, index}) gl.DeleteTextures(1, &id);
            CHECK(gl.GetError() == GL_NO_ERROR);
        }
    }
}

TEST_CASE("In each version of OpenGL, positions are ordered by their distance from a plane") {
    constexpr int width = 40, height = 25, n = width * height;
    // Small integers, so that the distances are exact.
    std::vector<int> at(4 * n);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int>(i * 2654435761U % 1'000'003 % 100);
    const Plane plane{2, -3, 0.5F, 7};
    const auto expected = [&](const auto& value, std::size_t first, int channels) {
        std::vector<double> distances;
        for (std::size_t i = first; i < n; ++i) {
            const auto p = [&](std::size_t c) { return value(at[i * static_cast<std::size_t>(channels) + c]); };
            distances.push_back(double{plane.x} * p(0) + double{plane.y} * p(1) + double{plane.z} * p(2) + plane.w);
        }
        std::vector<std::uint32_t> order(distances.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t i) { return distances[i]; });
        return order;
    };
    for (const auto& version : with_45()) {
        CAPTURE(version.name);
        const OlderHost host(version);
        const auto& gl = host.gl;
        Sorter sorter(Context::adopt(), {.engine = Engine::Merge});
        const auto index = texture_of(gl, width, height, nullptr);
        for (const auto& format : {Uploaded{"RGB32F", GL_RGB32F, GL_RGB, GL_FLOAT, 3},
                                   {"RGB16F", GL_RGB16F, GL_RGB, GL_FLOAT, 3},
                                   {"RGBA32F", GL_RGBA32F, GL_RGBA, GL_FLOAT, 4},
                                   {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_FLOAT, 4}}) {
            CAPTURE(format.name);
            const auto texture = upload(gl, format, width, height,
                                        {at.begin(), at.begin() + static_cast<std::ptrdiff_t>(n) * format.channels});
            sorter.argsort_texture({.texture = texture}, plane, index, Order::Descending);
            CHECK(texels_of(gl, index, width, height) ==
                  expected([&](int number) { return stored(format, number, 0); }, 0, format.channels));
            gl.DeleteTextures(1, &texture);
        }
        std::vector<float> floats(at.begin(), at.end());
        std::array<GLuint, 2> buffers{};
        gl.GenBuffers(2, buffers.data());
        for (const auto buffer : buffers) {
            gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
            gl.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(4 * floats.size()), floats.data(), GL_STATIC_DRAW);
        }
        // vec3, vec4, and vec3 of which the last one ends with the buffer.
        for (const int channels : {3, 4}) {
            for (const std::size_t first : {0U, 1U}) {
                const auto stride = static_cast<std::size_t>(4 * channels);
                sorter.argsort_buffer(
                    {.buffer = buffers[0], .offset = first * stride, .stride = channels == 3 ? 0 : stride}, plane,
                    n - first, buffers[1], 0, Order::Descending);
                std::vector<std::uint32_t> found(n - first);
                gl.BindBuffer(GL_ARRAY_BUFFER, buffers[1]);
                const void* const from =
                    gl.MapBufferRange(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(4 * found.size()), GL_MAP_READ_BIT);
                REQUIRE(from != nullptr);
                std::memcpy(found.data(), from, 4 * found.size());
                gl.UnmapBuffer(GL_ARRAY_BUFFER);
                CHECK(found == expected([](int number) { return number; }, first, channels));
            }
        }
        const auto refused = [&](const char* part, const auto& call) {
            CHECK_THROWS_WITH_AS(call(), doctest::Contains(part), InvalidArgument);
        };
        refused("floats of 32 bits",
                [&] { sorter.argsort_buffer({.buffer = buffers[0], .type = KeyType::U32}, plane, 10, buffers[1]); });
        refused("not less than a key",
                [&] { sorter.argsort_buffer({.buffer = buffers[0], .stride = 8}, plane, 10, buffers[1]); });
        refused("do not fit", [&] {
            sorter.argsort_buffer({.buffer = buffers[0], .offset = 4 * floats.size() - 8}, plane, 1, buffers[1]);
        });
        refused("three channels of floats", [&] { sorter.argsort_texture({.texture = index}, plane, index); });
        for (const auto id : buffers) gl.DeleteBuffers(1, &id);
        gl.DeleteTextures(1, &index);
        CHECK(gl.GetError() == GL_NO_ERROR);
    }
}

TEST_CASE("The plane of depths of a view") {
    // A camera at (0, 0, 5) that looks along -z.
    const std::array<float, 16> view{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -5, 1};
    const auto plane = Plane::of_depths(view);
    CHECK(plane.x * 9 + plane.y * 9 + plane.z * 2 + plane.w == 3);
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

TEST_CASE("In each version of OpenGL, halves in an application's buffer are a column of floats") {
    std::vector<std::uint16_t> bits(65'536);
    std::iota(bits.begin(), bits.end(), std::uint16_t{0});
    std::vector<float> numbers;
    for (const auto some : bits) numbers.push_back(Half{some}.value());
    Table in_memory;
    in_memory.add("x", numbers);
    QueryProcessor cpu;
    for (const auto& version : with_45()) {
        CAPTURE(version.name);
        const OlderHost host(version);
        const auto& gl = host.gl;
        const auto context = Context::adopt();
        GLuint buffer = 0;
        gl.GenBuffers(1, &buffer);
        gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
        gl.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(2 * bits.size()), bits.data(), GL_STATIC_DRAW);
        Table of_host;
        of_host.add_buffer("x", {.buffer = buffer, .type = KeyType::F16}, bits.size());
        QueryProcessor processor(context, {.engine = QueryEngine::Bitmap, .threads = 1});
        // Subnormal, normal and infinite ones, and both zeros.
        for (const float value : {-INFINITY, -65504.F, -1.F, -6e-8F, 0.F, 6e-8F, 6.1e-5F, 0.333F, 2048.F, INFINITY}) {
            CAPTURE(value);
            const auto wanted = column("x") >= value;
            CHECK(processor.count(of_host, wanted) == cpu.count(in_memory, wanted));
        }
        gl.DeleteBuffers(1, &buffer);
        CHECK(gl.GetError() == GL_NO_ERROR);
    }
}
