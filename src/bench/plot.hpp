// Plots lines as an SVG, on logarithmic or linear axes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quadmill::detail::bench {

enum class Line { Solid, Dashed, Unmarked };
enum class Scale {
    Logarithmic,
    Linear,
    Fitted
};  // Linear begins at 0; Fitted is linear, from the first value to the last

struct Series {
    std::string name;
    Line line = Line::Solid;
    // x ascending and positive; on a linear scale it may be 0. On a logarithmic scale y may be infinite, which is a
    // mark at the top, or not positive, which is drawn at the bottom.
    std::vector<std::pair<double, double>> points;
    std::vector<std::pair<double, double>> band{};  // lower and upper y of each point; empty if there is none
};

struct Panel {
    std::string title, x_label, y_label;
    std::vector<Series> series;  // series with the same index have the same colour in every panel
    Scale x_scale = Scale::Logarithmic, y_scale = Scale::Logarithmic;
    std::string subtitle{};
    std::string infinity{};  // meaning of the marks for infinite values, for the legend
};

// Each panel is 860 x 500. Up to three are in one column, more in two.
[[nodiscard]] std::string plot(const std::vector<Panel>& panels);

}  // namespace quadmill::detail::bench
