// Lines as an SVG, on logarithmic or linear axes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quadmill::detail::bench {

enum class Line { Solid, Dashed };
enum class Scale { Logarithmic, Linear };  // a linear one begins at 0

struct Series {
    std::string name;
    Line line = Line::Solid;
    std::vector<std::pair<double, double>>
        points;  // x ascending; all positive, or not negative where the scale is linear
};

struct Panel {
    std::string title, x_label, y_label;
    std::vector<Series> series;  // at the same index, the same colour in every panel
    Scale x_scale = Scale::Logarithmic, y_scale = Scale::Logarithmic;
};

// Each panel is 840 x 500; up to three stand below each other, more in two columns.
[[nodiscard]] std::string plot(const std::vector<Panel>& panels);

}  // namespace quadmill::detail::bench
