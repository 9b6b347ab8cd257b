// Lines on log-log axes as an SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quadmill::detail::bench {

enum class Line { Solid, Dashed };

struct Series {
    std::string name;
    Line line;
    std::vector<std::pair<double, double>> points;  // x ascending; all positive
};

struct Panel {
    std::string title, x_label, y_label;
    std::vector<Series> series;  // at the same index, the same colour in every panel
};

// All panels one below the other, each 840 x 500.
[[nodiscard]] std::string plot(const std::vector<Panel>& panels);

}  // namespace quadmill::detail::bench
