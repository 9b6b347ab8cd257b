// The tools for passes: targets, stored programs, uniforms by name, blending by render target, and the number of draws.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "gl/device.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;          // NOLINT(google-build-using-namespace)
using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)

namespace {

struct Room {
    Context context = Context::headless();
    gl::Device& device = *detail::Access::of(context);
    gl::Scope scope{device, "test"};
};

std::vector<float> texels_of(gl::Device& device, const gl::Texture& texture) {
    pass::ReadBack back;
    back.request(device, texture);
    const auto bytes = back.wait();
    std::vector<float> texels(bytes.size() / sizeof(float));
    std::memcpy(texels.data(), bytes.data(), bytes.size());
    return texels;
}

constexpr const char* constant_frag = "uniform float value;\nout vec4 colour;\nvoid main() { colour = vec4(value); }";

std::string message(const auto& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("A pass draws all quads from the first one on, unless it has a count") {
    Room room;
    const gl::Program program(room.device, "constant", constant_frag);
    const pass::Target target(room.device, gl::Format::R32f, 3, 1);
    const gl::QuadList quads(room.device,
                             {gl::rectangle(0, 0, 1, 1), gl::rectangle(1, 0, 2, 1), gl::rectangle(2, 0, 3, 1)});
    gl::Pass pass{.name = "all",
                  .program = &program,
                  .uniforms = {{"value", 1.0F}},
                  .target = &target.framebuffer,
                  .quads = &target.whole};
    draw(room.device, pass);
    CHECK(texels_of(room.device, target.texture) == std::vector<float>{1, 1, 1});
    pass.uniforms = {{"value", 2.0F}};
    pass.quads = &quads;
    pass.first = 1;
    draw(room.device, pass);
    CHECK(texels_of(room.device, target.texture) == std::vector<float>{1, 2, 2});
    pass.uniforms = {{"value", 3.0F}};
    pass.count = 1;
    draw(room.device, pass);
    CHECK(texels_of(room.device, target.texture) == std::vector<float>{1, 3, 2});
    const gl::Points points(room.device);
    pass = {.name = "dots", .program = &program, .target = &target.framebuffer, .points = &points};
    CHECK(message([&] { draw(room.device, pass); }) == "the pass 'dots' does not count its points");
    room.scope.check();
}

TEST_CASE("A uniform that no shader declares is an error, one without effect is not; arrays are set by element") {
    Room room;
    const pass::Target target(room.device, gl::Format::R32f, 1, 1);
    const gl::Program program(room.device, "sums",
                              "uniform float a, unused;\nuniform highp vec2 pair[2];\nout vec4 colour;\n"
                              "void main() { colour = vec4(a + pair[0].x + pair[1].y); }");
    gl::Pass pass{
        .name = "sums",
        .program = &program,
        .uniforms = {{"a", 1.0F}, {"unused", 5.0F}, {"pair[0]", glm::vec2(10, 0)}, {"pair[1]", glm::vec2(0, 100)}},
        .target = &target.framebuffer,
        .quads = &target.whole};
    draw(room.device, pass);
    CHECK(texels_of(room.device, target.texture) == std::vector<float>{111});
    pass.uniforms.set("aa", 1.0F);
    CHECK(message([&] { draw(room.device, pass); }) == "program sums has no uniform 'aa'");
    room.scope.check();
}

TEST_CASE("Each render target blends in its own way, and the next pass in its own") {
    Room room;
    const pass::Target target(room.device, gl::Format::R32f, 2, 1, 4);
    const gl::Program program(room.device, "four",
                              "uniform float value;\nlayout(location = 0) out vec4 colour[4];\nvoid main() {\n"
                              "    colour[0] = colour[1] = colour[2] = colour[3] = vec4(value);\n}");
    gl::Pass pass{.name = "four",
                  .program = &program,
                  .uniforms = {{"value", 5.0F}},
                  .target = &target.framebuffer,
                  .quads = &target.whole};
    draw(room.device, pass);
    pass.blend = {gl::Blend::Min, gl::Blend::Max, gl::Blend::Add, gl::Blend::None};
    if (!room.device.features.direct_state_access) {  // older versions have the same blending for all
        CHECK_THROWS_AS(draw(room.device, pass), GlError);
        return;
    }
    for (const float value : {7.0F, 3.0F, 4.0F}) {
        pass.uniforms = {{"value", value}};
        draw(room.device, pass);
    }
    CHECK(texels_of(room.device, target.texture) == std::vector<float>{3, 3, 7, 7, 19, 19, 4, 4});
    pass.blend = gl::Blend::Add;
    draw(room.device, pass);
    CHECK(texels_of(room.device, target.texture) == std::vector<float>{7, 7, 11, 11, 23, 23, 8, 8});
    room.scope.check();
}

TEST_CASE("Ping and pong exchange texture and target together") {
    Room room;
    pass::PingPong pair(room.device, gl::Format::R32f, 2, 2);
    const auto first = pair.now.texture.id();
    const auto second = pair.next.texture.id();
    pair.swap();
    CHECK(pair.now.texture.id() == second);
    CHECK(pair.now.framebuffer.texture() == second);
    CHECK(pair.next.framebuffer.texture() == first);
    CHECK(pair.now.is(gl::Format::R32f, 2, 2));
    CHECK(!pair.now.is(gl::Format::Rgba32f, 2, 2));
    CHECK(!pass::Target().is(gl::Format::Rgba32f, 0, 0));
    room.scope.check();
}

TEST_CASE("Programs are compiled once for each name and prelude") {
    Room room;
    pass::Programs programs(room.device);
    const auto& one = programs.get("constant", constant_frag);
    CHECK(&one == &programs.get("constant", constant_frag));
    CHECK(&one != &programs.get("constant", constant_frag, "#define A\n"));
    pass::ProgramVariants<int> variants;
    int compiled = 0;
    const auto compile = [&] {
        ++compiled;
        return gl::Program(room.device, "constant", constant_frag);
    };
    CHECK(&variants.get(3, compile) == &variants.get(3, compile));
    static_cast<void>(variants.get(4, compile));
    CHECK(compiled == 2);
    room.scope.check();
}
