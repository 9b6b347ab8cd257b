// The RAII classes for OpenGL objects.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "gl/host.hpp"
#include "gl/state_snapshot.hpp"
#include "gl/texels.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;
using namespace quadmill::detail::gl;
using quadmill::test::Host;
using quadmill::test::Snapshot;
using quadmill::test::take_errors;

namespace {

template <class Function>
std::string gl_error_of(Function&& function) {
    try {
        function();
    } catch (const GlError& error) {
        return error.what();
    }
    return "no GlError was thrown";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Handle<TextureTraits> make_texture(Device& device) {
    GLuint id = 0;
    device.gl.CreateTextures(GL_TEXTURE_2D, 1, &id);
    return {device.shared_from_this(), id};
}

}  // namespace

TEST_CASE("a Handle frees its object once, whichever Handle is the last owner") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const auto lives = [&](GLuint id) { return host.gl.IsTexture(id) == GL_TRUE; };
    GLuint a_id = 0, b_id = 0, released = 0;
    {
        auto a = make_texture(device);
        a_id = a.id();
        CHECK(a);
        CHECK(&a.device() == &device);
        CHECK(lives(a_id));
        auto moved(std::move(a));
        CHECK_FALSE(a);  // NOLINT(bugprone-use-after-move): that it is empty is what is tested
        CHECK(a.id() == 0);
        CHECK(moved.id() == a_id);
        auto b = make_texture(device);
        b_id = b.id();
        b = std::move(moved);
        CHECK(b.id() == a_id);
        b = {};
        CHECK_FALSE(b);
        CHECK_FALSE(lives(a_id));
        auto c = make_texture(device);
        released = c.release();
        CHECK_FALSE(c);
    }
    CHECK_FALSE(lives(b_id));
    CHECK(lives(released));
    { const auto wrapped = Handle<TextureTraits>::wrap(device.shared_from_this(), released); }
    CHECK(lives(released));
    {
        // Whether it owns moves with the object.
        auto wrapped = Handle<TextureTraits>::wrap(device.shared_from_this(), released);
        auto owned = make_texture(device);
        a_id = owned.id();
        std::swap(wrapped, owned);
        CHECK(wrapped.id() == a_id);
        auto moved(std::move(owned));
        CHECK(moved.id() == released);
    }
    CHECK(lives(released));
    CHECK_FALSE(lives(a_id));
    host.gl.DeleteTextures(1, &released);
    const Handle<TextureTraits> empty;
    CHECK_FALSE(empty);
}

TEST_CASE("objects outlive the Context they were made with") {
    Texture texture;
    {
        const auto context = Context::headless();
        const Scope scope(*detail::Access::of(context), "test");
        texture = Texture(*detail::Access::of(context), Format::Rgba32f, 4, 4);
        scope.check();
    }
    CHECK(texture);
    texture = {};  // makes the context current for the last time
    CHECK_FALSE(texture);
}

TEST_CASE("a Texture that is too large is a GlError with the bytes, and leaves nothing behind") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const int width = host.context.info().max_texture_size + 1;
    const auto before = Snapshot::take(host.gl);
    for (const auto& [format, name] : {std::pair{Format::Rgba32f, "RGBA32F"}, std::pair{Format::Rgba16f, "RGBA16F"},
                                       std::pair{Format::Rgba32ui, "RGBA32UI"}}) {
        const Scope scope(device, "test");
        const auto message = gl_error_of([&, wanted = format] { const Texture texture(device, wanted, width, 3); });
        const auto bytes = static_cast<std::size_t>(width) * 3 * info(format).bytes;
        CHECK_MESSAGE(has(message, std::to_string(bytes) + " bytes"), message);
        CHECK_MESSAGE(has(message, name), message);
        CHECK_MESSAGE(has(message, std::to_string(width) + " x 3"), message);
        CHECK_NOTHROW(scope.check());
    }
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
}

TEST_CASE("a Texture has one level of the requested size and format, read without filtering") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const Scope scope(device, "test");
    for (const auto format : {Format::Rgba32f, Format::Rgba16f, Format::Rgba32ui}) {
        const Texture texture(device, format, 7, 5);
        CHECK(texture.bytes() == 35 * info(format).bytes);
        const auto parameter = [&](GLenum name) {
            GLint value = 0;
            device.gl.GetTextureParameteriv(texture.id(), name, &value);
            return static_cast<GLenum>(value);
        };
        const auto of_level = [&](GLenum name) {
            GLint value = 0;
            device.gl.GetTextureLevelParameteriv(texture.id(), 0, name, &value);
            return static_cast<GLenum>(value);
        };
        CHECK(of_level(GL_TEXTURE_WIDTH) == 7);
        CHECK(of_level(GL_TEXTURE_HEIGHT) == 5);
        CHECK(of_level(GL_TEXTURE_INTERNAL_FORMAT) == info(format).internal);
        CHECK(parameter(GL_TEXTURE_IMMUTABLE_LEVELS) == 1);
        CHECK(parameter(GL_TEXTURE_MIN_FILTER) == GL_NEAREST);
        CHECK(parameter(GL_TEXTURE_MAG_FILTER) == GL_NEAREST);
        const Framebuffer framebuffer(device, texture);
        CHECK(framebuffer.texture() == texture.id());
        CHECK(framebuffer.width() == 7);
        CHECK(framebuffer.height() == 5);
    }
    scope.check();
}

TEST_CASE("more mapped memory than any machine has is a GlError with the bytes") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const Scope scope(device, "test");
    constexpr std::size_t bytes = PTRDIFF_MAX / 2;
    const auto message = gl_error_of([&] { const PixelBuffer buffer(device, PixelBuffer::Direction::Upload, bytes); });
    CHECK_MESSAGE(has(message, std::to_string(bytes) + " bytes of mapped memory"), message);
    CHECK_NOTHROW(scope.check());
    const PixelBuffer small(device, PixelBuffer::Direction::Upload, 64);  // the next one works
    CHECK(small.size() == 64);
    scope.check();
}

TEST_CASE("a Program that does not compile or link is a GlError with its name and the driver's log") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const auto before = Snapshot::take(host.gl);
    {
        const Scope scope(device, "test");
        const auto compile = gl_error_of([&] {
            const Program program(device, "broken.frag", "out vec4 value;\nvoid main() { value = no_such_variable; }");
        });
        CHECK_MESSAGE(has(compile, "broken.frag"), compile);
        CHECK_MESSAGE(has(compile, "no_such_variable"), compile);  // every driver's log names it
        const auto link = gl_error_of([&] {
            const Program program(device, "unlinked.frag",
                                  "vec4 nowhere();\nout vec4 v;\nvoid main() { v = nowhere(); }");
        });
        CHECK_MESSAGE(has(link, "unlinked.frag"), link);
        CHECK_MESSAGE(has(link, "nowhere"), link);
        scope.check();
    }
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
}

TEST_CASE("a Program knows its uniforms, and its samplers read the units of their names") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const Scope scope(device, "test");
    const Program program(device, "two inputs",
                          "uniform sampler2D texture3;\nuniform sampler2D texture1;\nuniform float factor;\n"
                          "in vec2 texel;\nout vec4 value;\n"
                          "void main() {\n"
                          "    ivec2 at = ivec2(texel);\n"
                          "    value = factor * texelFetch(texture3, at, 0) + texelFetch(texture1, at, 0);\n"
                          "}");
    CHECK(program.location("factor") >= 0);
    CHECK(program.target_size() >= 0);
    CHECK(has(gl_error_of([&] { static_cast<void>(program.location("nothing")); }), "nothing"));
    GLint unit = -1;
    device.gl.GetUniformiv(program.id(), program.location("texture3"), &unit);
    CHECK(unit == 3);
    device.gl.GetUniformiv(program.id(), program.location("texture1"), &unit);
    CHECK(unit == 1);
    scope.check();
}

TEST_CASE("a Buffer holds its bytes") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const Scope scope(device, "test");
    const std::array<std::uint32_t, 3> content{0xdeadbeef, 7, 0x80000000};
    const Buffer buffer(device, std::as_bytes(std::span(content)));
    std::array<std::uint32_t, 3> found{};
    device.gl.GetNamedBufferSubData(buffer.id(), 0, sizeof found, found.data());
    CHECK(found == content);
    scope.check();
}

TEST_CASE("a Fence is waited for once and may be empty") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const Scope scope(device, "test");
    Fence none;
    CHECK(none.passed());
    none.wait();
    Fence fence(device);
    Fence moved(std::move(fence));
    fence.wait();  // NOLINT(bugprone-use-after-move): empty, so it returns at once
    moved.wait();
    CHECK(moved.passed());
    moved.wait();
    Fence polled(device);
    while (!polled.passed()) std::this_thread::yield();  // asking flushes
    moved = Fence(device);
    moved = Fence(device);
    scope.check();
}

TEST_CASE("timestamps run forward") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const Scope scope(device, "test");
    const auto before = gpu_time(device);
    const Query first(device, Query::Kind::Timestamp), second(device, Query::Kind::Timestamp);
    first.take_time();
    second.take_time();
    CHECK(first.result() <= second.result());
    CHECK(before <= first.result() + 1'000'000);  // the same clock, within a millisecond
    CHECK(second.ready());                        // its result has been read
    scope.check();
}

TEST_CASE("an application's texture is accepted only if its kind and format are right") {
    Host host;
    auto& device = *detail::Access::of(host.context);
    const auto& gl = host.gl;
    const Scope scope(device, "test");
    const auto refused = [&](GLuint id) {
        try {
            static_cast<void>(host_texture(device, id, {Format::Rgba32f}, "here", "input"));
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("it was taken");
    };
    const auto make = [&](GLenum target, auto&& storage) {
        GLuint id = 0;
        gl.CreateTextures(target, 1, &id);
        storage(id);
        return id;
    };
    GLuint generated = 0;
    gl.GenTextures(1, &generated);
    CHECK(has(refused(0), "object 0 is not a texture"));
    CHECK(has(refused(generated), "is not a texture"));
    CHECK(has(refused(4'000'000'000U), "is not a texture"));
    const auto cube = make(GL_TEXTURE_CUBE_MAP, [&](GLuint id) { gl.TextureStorage2D(id, 1, GL_RGBA32F, 4, 4); });
    const auto rectangle = make(GL_TEXTURE_RECTANGLE, [&](GLuint id) { gl.TextureStorage2D(id, 1, GL_RGBA32F, 4, 4); });
    const auto bare = make(GL_TEXTURE_2D, [](GLuint) {});
    const auto half = make(GL_TEXTURE_2D, [&](GLuint id) { gl.TextureStorage2D(id, 1, GL_RGBA16F, 4, 4); });
    const auto right = make(GL_TEXTURE_2D, [&](GLuint id) { gl.TextureStorage2D(id, 2, GL_RGBA32F, 6, 4); });
    CHECK(has(refused(cube), "has another target"));
    CHECK(has(refused(rectangle), "has another target"));
    CHECK(has(refused(bare), "has no level 0"));
    CHECK(has(refused(half), "has another internal format"));
    const auto texture = host_texture(device, right, {Format::Rgba32f}, "here", "input");
    CHECK(texture.id() == right);
    CHECK(texture.width() == 6);
    CHECK(texture.height() == 4);
    scope.check();
    for (const auto id : {generated, cube, rectangle, bare, half, right}) gl.DeleteTextures(1, &id);
}
