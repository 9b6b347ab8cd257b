// The quantiles of a stream as a picture, with bands that contain the exact quantiles.
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
    std::vector<Point> points;  // phi ascending from 0 to 1; finite values
    std::vector<Point> tail{};  // phi ascending from 1/2, below 1; finite values; may be empty
};

// On the left all quantiles; on the right those from the median on, over 1 - phi on a logarithmic scale. Values are on
// a logarithmic scale if all are positive and span more than three powers of ten. Pre: there are points.
[[nodiscard]] Canvas draw_quantiles(const QuantileCurve& curve, Size size);

}  // namespace quadmill::detail::show
