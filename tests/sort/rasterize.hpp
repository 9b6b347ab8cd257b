// Reads quads like a rasterizer, without OpenGL.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <utility>

#include "gl/pass.hpp"

namespace quadmill::test {

// The source texel of each target texel, by interpolating texture coordinates at texel centres.
using TexelMap = std::map<std::pair<int, int>, std::pair<int, int>>;
inline void rasterize(const detail::gl::Quad& quad, TexelMap& map) {
    const auto at = [](float from, float to, float t) { return static_cast<int>(std::floor(from + (to - from) * t)); };
    for (int y = static_cast<int>(quad.target.y0); y < static_cast<int>(quad.target.y1); ++y) {
        for (int x = static_cast<int>(quad.target.x0); x < static_cast<int>(quad.target.x1); ++x) {
            const float s = (static_cast<float>(x) + 0.5F - quad.target.x0) / (quad.target.x1 - quad.target.x0);
            const float t = (static_cast<float>(y) + 0.5F - quad.target.y0) / (quad.target.y1 - quad.target.y0);
            const auto [place, fresh] =
                map.insert({{x, y}, {at(quad.source.x0, quad.source.x1, s), at(quad.source.y0, quad.source.y1, t)}});
            static_cast<void>(place);
            REQUIRE(fresh);  // no texel is drawn twice
        }
    }
}

}  // namespace quadmill::test
