// Invented Gaussians in space: a trefoil knot of small flat ones that lie on its surface like scales, in a glassy
// sphere of large ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace demo {

// Four texels, in the renderer's layout.
struct Splat {
    std::array<float, 3> middle;
    float opacity;
    std::array<float, 6> covariance;  // xx, xy, xz, yy, yz, zz
    std::array<float, 2> unused;
    std::array<float, 4> color;
};

[[nodiscard]] std::vector<Splat> make_cloud(std::size_t splats, std::uint32_t seed);

}  // namespace demo
