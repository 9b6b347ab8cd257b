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
    // x ascending; all positive, or not negative on a linear scale. On a logarithmic scale y may also be infinite,
    // which has a mark at the top, or not positive, which is at the bottom.
    std::vector<std::pair<double, double>> points;
    std::vector<std::pair<double, double>> band{};  // lower and upper y of each point; empty: none
};

struct Panel {
    std::string title, x_label, y_label;
    std::vector<Series> series;  // at the same index, the same colour in every panel
    Scale x_scale = Scale::Logarithmic, y_scale = Scale::Logarithmic;
    std::string subtitle{};
    std::string infinity{};  // what the marks of infinite values mean, for the legend
};

// Each panel is 860 x 500; up to three are in one column, more in two.
[[nodiscard]] std::string plot(const std::vector<Panel>& panels);

}  // namespace quadmill::detail::bench
