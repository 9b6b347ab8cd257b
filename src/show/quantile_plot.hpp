// The quantiles of a stream as a picture, with bands that surely hold the exact ones.
#pragma once

#include <cstdint>
#include <vector>

#include "show/canvas.hpp"
#include "show/png.hpp"

namespace quadmill::detail::show {

struct QuantileCurve {
    struct Point {
        double phi, lower, value, upper;
    };
    std::uint64_t n = 0;
    double eps = 0;
    std::vector<Point> points;  // phi ascending; finite values
};

// On a logarithmic scale where all values are positive and span more than three powers of ten. Pre: there are points.
[[nodiscard]] Canvas draw_quantiles(const QuantileCurve& curve, Size size);

}  // namespace quadmill::detail::show
