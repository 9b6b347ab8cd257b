#include "bench/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace quadmill::detail::bench {

namespace {

constexpr double width = 860, height = 500, left = 84, right = 224, bottom = 60;
constexpr std::size_t max_marked = 64;  // max points of a line with marks

// Okabe and Ito's palette, which the colour-blind can distinguish, without its yellow, which is faint on white.
constexpr std::array colors{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000",
                            "#E69F00", "#56B4E9", "#882255", "#777777"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

// Maps values to coordinates on the page.
class Axis {
  public:
    Axis(Scale scale, double low, double high, double from, double to)
        : scale_(scale), low_(scaled(low)), span_(std::max(scaled(high) - low_, 1e-9)), from_(from), to_(to) {}
    [[nodiscard]] double at(double value) const { return from_ + (to_ - from_) * (scaled(value) - low_) / span_; }

  private:
    [[nodiscard]] double scaled(double value) const { return scale_ == Scale::Logarithmic ? std::log(value) : value; }

    Scale scale_;
    double low_, span_, from_, to_;
};

struct Range {
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    void include(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

// 1, 2 and 5 times the powers of ten, from the last one <= `low` to the first one >= `high`.
std::vector<double> decimal_ticks(const Range& range) {
    std::vector<double> ticks;
    for (int power = static_cast<int>(std::floor(std::log10(range.low))); power < 30; ++power) {
        for (const double step : {1, 2, 5}) {
            const double tick = step * std::pow(10, power);
            if (tick <= range.low * (1 + 1e-9)) ticks.clear();
            ticks.push_back(tick);
            if (tick >= range.high && ticks.size() > 1) return ticks;
        }
    }
    return ticks;
}

// From 0 to the first tick >= `high`, in at most ten steps of 1, 2 or 5 times a power of ten.
std::vector<double> linear_ticks(double high) {
    if (high <= 0) return {0, 1};
    double step = std::pow(10, std::floor(std::log10(high)) - 1);
    for (const double times : {2.0, 2.5, 2.0, 2.0}) {
        if (step * 10 < high * (1 - 1e-9)) step *= times;
    }
    std::vector<double> ticks{0};
    while (ticks.back() < high * (1 - 1e-9)) ticks.push_back(step * static_cast<double>(ticks.size()));
    return ticks;
}

// Ticks for values from `low` to `high`, which may be negative.
std::vector<double> fitted_ticks(const Range& range) {
    const double wide = range.high - range.low;
    if (!(wide > 0)) return {range.low};
    const auto steps = linear_ticks(wide);
    const double step = steps[1];
    std::vector<double> ticks;
    for (double i = std::ceil(range.low / step); i * step <= range.high && ticks.size() < steps.size(); ++i)
        ticks.push_back(i * step);
    return ticks;
}

std::string decimal(double value) {
    for (const auto& [unit, letter] : {std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e3, "k"}}) {
        if (value >= unit * (1 - 1e-9)) return fmt::format("{:g}{}", value / unit, letter);
    }
    return fmt::format("{:g}", value);
}

class Drawing {
  public:
    Drawing(const Panel& panel, double right_by, double down_by) : panel_(panel) {
        for (const auto& series : panel.series) {
            for (const auto& [x, y] : series.points) {
                x_.include(x);
                include(y);
            }
            for (const auto& [lower, upper] : series.band) {
                include(lower);
                include(upper);
            }
        }
        svg_ = fmt::format("<g class=\"panel\" transform=\"translate({} {})\">\n", right_by, down_by);
        svg_ += fmt::format("<text x=\"{}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{}</text>\n", left,
                            escaped(panel.title));
        if (!panel.subtitle.empty()) {
            svg_ += fmt::format("<text x=\"{}\" y=\"46\" fill=\"#555555\">{}</text>\n", left, escaped(panel.subtitle));
        }
        if (x_.low <= x_.high && y_.low <= y_.high) {
            frame();
            for (std::size_t i = 0; i < panel.series.size(); ++i) band(i);
            lines();
            legend();
        } else {
            svg_ += fmt::format("<text x=\"{}\" y=\"80\">nothing ran</text>\n", left);
        }
        svg_ += "</g>\n";
    }
    [[nodiscard]] const std::string& svg() const { return svg_; }

  private:
    // Values without a logarithm are left out.
    void include(double y) {
        if (panel_.y_scale == Scale::Linear || (y > 0 && !std::isinf(y))) y_.include(y);
        infinite_ = infinite_ || y == std::numeric_limits<double>::infinity();
    }

    [[nodiscard]] double y_at(double y) const {
        if (y == std::numeric_limits<double>::infinity()) return top_;
        if (panel_.y_scale == Scale::Logarithmic && !(y > 0)) return height - bottom;
        return y_axis_.at(y);
    }

    void frame() {
        horizontals();
        if (panel_.x_scale == Scale::Logarithmic)
            verticals_at_powers();
        else
            verticals();
        svg_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"14\">{}</text>\n",
                            (left + width - right) / 2, height - 14, escaped(panel_.x_label));
        svg_ += fmt::format(
            "<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\" font-size=\"14\">{}</text>\n",
            (top_ + height - bottom) / 2, escaped(panel_.y_label));
        svg_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#555555\"/>\n",
                            left, top_, width - right - left, height - top_ - bottom);
    }

    void horizontals() {
        const bool linear = panel_.y_scale == Scale::Linear;
        const auto ticks = linear ? linear_ticks(y_.high) : decimal_ticks(y_);
        y_axis_ = Axis(panel_.y_scale, ticks.front(), ticks.back(), height - bottom, infinite_ ? top_ + 22 : top_);
        if (infinite_)
            svg_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">∞</text>\n", left - 8, top_ + 4);
        const bool crowded = ticks.size() > 16;
        for (const double tick : ticks) {
            const double y = y_axis_.at(tick);
            const bool power = !linear && std::abs(std::log10(tick) - std::round(std::log10(tick))) < 1e-9;
            if (crowded && !power) continue;
            svg_ += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", left,
                                width - right, y, y, power ? "#bbbbbb" : "#e4e4e4");
            svg_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8, y + 4,
                                decimal(tick));
        }
    }

    void vertical(double x, const std::string& label) {
        svg_ += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#e4e4e4\"/>\n", x, x, top_,
                            height - bottom);
        svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, height - bottom + 20,
                            label);
    }

    void verticals() {
        const bool fitted = panel_.x_scale == Scale::Fitted;
        const auto ticks = fitted ? fitted_ticks(x_) : linear_ticks(x_.high);
        x_axis_ = Axis(Scale::Linear, fitted ? x_.low : 0, fitted ? x_.high : ticks.back(), left, width - right);
        for (const double tick : ticks)
            vertical(x_axis_.at(tick), fitted ? fmt::format("{:.10g}", tick) : decimal(tick));
    }

    void verticals_at_powers() {
        const double first = std::floor(std::log2(x_.low)), last = std::max(std::ceil(std::log2(x_.high)), first + 1);
        x_axis_ = Axis(Scale::Logarithmic, std::exp2(first), std::exp2(last), left, width - right);
        const double step = std::ceil((last - first) / 14);
        for (double power = first; power <= last; power += step)
            vertical(x_axis_.at(std::exp2(power)),
                     fmt::format("2<tspan dy=\"-6\" font-size=\"10\">{:g}</tspan>", power));
    }

    [[nodiscard]] static std::string stroke(const Series& series, std::size_t index) {
        return fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", colors[index % colors.size()],
                           series.line == Line::Dashed ? " stroke-dasharray=\"6 4\"" : "");
    }

    [[nodiscard]] static bool is_marked(const Series& series) {
        return series.line != Line::Unmarked && series.points.size() <= max_marked;
    }
    // Circles for solid lines, squares for dashed ones.
    [[nodiscard]] static std::string mark(const Series& series, std::size_t index, double x, double y) {
        const auto* const color = colors[index % colors.size()];
        if (series.line == Line::Solid)
            return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>", x, y, color);
        return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\" fill=\"{}\"/>", x - 3.5, y - 3.5,
                           color);
    }

    void band(std::size_t index) {
        const auto& series = panel_.series[index];
        if (series.band.empty()) return;
        std::string upper, lower;
        for (std::size_t i = 0; i < series.points.size(); ++i) {
            const double x = x_axis_.at(series.points[i].first);
            upper += fmt::format("{:.1f},{:.1f} ", x, y_at(series.band[i].second));
            lower = fmt::format("{:.1f},{:.1f} ", x, y_at(series.band[i].first)) + lower;
        }
        svg_ += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.25\"/>\n", upper, lower,
                            colors[index % colors.size()]);
    }

    [[nodiscard]] static std::string up_mark(double x, double y, const char* color) {
        return fmt::format("<path d=\"M{:.1f} {:.1f}l6 11h-12z\" fill=\"{}\"/>", x, y - 7, color);
    }

    // One mark per stretch of infinite values.
    [[nodiscard]] std::string up_marks(const Series& series, std::size_t index) const {
        std::string marks;
        const auto& points = series.points;
        const auto is_infinite = [&](std::size_t i) {
            return i < points.size() && points[i].second == std::numeric_limits<double>::infinity();
        };
        for (std::size_t from = 0, to = 0; from < points.size(); from = to + 1) {
            for (to = from; is_infinite(to);) ++to;
            if (to == from) continue;
            const double x = (x_axis_.at(points[from].first) + x_axis_.at(points[to - 1].first)) / 2;
            marks += up_mark(x, top_, colors[index % colors.size()]);
        }
        return marks;
    }

    void lines() {
        for (std::size_t i = 0; i < panel_.series.size(); ++i) {
            const auto& series = panel_.series[i];
            if (series.points.empty()) continue;
            std::string points, marks;
            for (const auto& [x, y] : series.points) {
                points += fmt::format("{:.1f},{:.1f} ", x_axis_.at(x), y_at(y));
                if (is_marked(series)) marks += mark(series, i, x_axis_.at(x), y_at(y));
            }
            marks += up_marks(series, i);
            svg_ +=
                fmt::format("<g class=\"series\"><title>{}</title><polyline points=\"{}\" fill=\"none\" {}/>{}</g>\n",
                            escaped(series.name), points, stroke(series, i), marks);
        }
    }

    // In the order of the lines' right ends, so that names are near their lines.
    void legend() {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < panel_.series.size(); ++i) {
            if (!panel_.series[i].points.empty()) order.push_back(i);
        }
        std::ranges::sort(order, std::greater<>(),
                          [&](std::size_t i) { return panel_.series[i].points.back().second; });
        double y = top_ + 14;
        const double x = width - right + 16;
        for (const auto i : order) {
            const auto& series = panel_.series[i];
            svg_ += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" {}/>{}", x, x + 30, y, y,
                                stroke(series, i), is_marked(series) ? mark(series, i, x + 15, y) : "");
            if (!series.band.empty()) {
                svg_ += fmt::format(
                    "<rect x=\"{}\" y=\"{}\" width=\"30\" height=\"12\" fill=\"{}\" fill-opacity=\"0.25\"/>", x, y - 6,
                    colors[i % colors.size()]);
            }
            svg_ += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + 38, y + 4, escaped(series.name));
            y += 22;
        }
        if (infinite_ && !panel_.infinity.empty()) {
            svg_ += up_mark(x + 15, y + 2, "#555555");
            svg_ += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + 38, y + 4, escaped(panel_.infinity));
        }
    }

    const Panel& panel_;
    double top_ = panel_.subtitle.empty() ? 44 : 64;
    bool infinite_ = false;
    Range x_, y_;
    Axis x_axis_{Scale::Linear, 0, 1, 0, 1}, y_axis_ = x_axis_;
    std::string svg_;
};

}  // namespace

std::string plot(const std::vector<Panel>& panels) {
    const std::size_t columns = panels.size() > 3 ? 2 : 1, rows = (panels.size() + columns - 1) / columns;
    const double across = width * static_cast<double>(columns), down = height * static_cast<double>(rows);
    auto svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        across, down, across, down);
    for (std::size_t i = 0; i < panels.size(); ++i) {
        svg += Drawing(panels[i], width * static_cast<double>(i % columns), height * static_cast<double>(i / columns))
                   .svg();
    }
    return svg + "</svg>\n";
}

}  // namespace quadmill::detail::bench
