// A device with an open session, drawn textures, and the quad that tests of depth, stencil and points draw.
#pragma once

#include <doctest/doctest.h>

#include <vector>

#include "gl/device.hpp"
#include "gl/host.hpp"
#include "gl/pass.hpp"
#include "pass_shaders.hpp"

namespace quadmill::test {

// A device with an open session, and the program that copies texels.
struct Bench {
    Bench()
        : device(*detail::Access::of(host.context)),
          scope(device, "test"),
          fetch(device, "fetch", detail::shaders::pass_fetch_frag) {}
    ~Bench() { CHECK_NOTHROW(scope.check()); }

    Host host;
    detail::gl::Device& device;
    detail::gl::Scope scope;
    detail::gl::Program fetch;
};

struct DrawnTexture {
    DrawnTexture(detail::gl::Device& device, detail::gl::Format format, int width, int height)
        : texture(device, format, width, height), framebuffer(device, texture) {}
    detail::gl::Texture texture;
    detail::gl::Framebuffer framebuffer;
};

inline std::vector<detail::gl::Quad> whole(int width, int height) {
    const detail::gl::Quad::Corners all{0, 0, static_cast<float>(width), static_cast<float>(height)};
    return {{all, all}};
}

constexpr int test_width = 13, test_height = 9;
// Leaves a margin of texels that must not change.
inline const detail::gl::Quad test_quad{{2, 1, 11, 7}, {2, 1, 11, 7}};

template <class Each>
void for_each_in_test_quad(Each each) {
    for (int y = 1; y < 7; ++y) {
        for (int x = 2; x < 11; ++x) each(static_cast<std::size_t>(y * test_width + x));
    }
}

}  // namespace quadmill::test
