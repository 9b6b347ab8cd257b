#include "show/quantile_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "show/scale.hpp"

namespace quadmill::detail::show {

namespace {

constexpr int title_height = 24;

// Maps phi to x.
using XOfPhi = std::function<float(double phi)>;

void vertical(Canvas& canvas, const Box& box, int x, const std::string& words, const Font& font) {
    canvas.fill({x, box.y, 1, box.height}, shade);
    canvas.text(x, box.bottom() + 6, words, font, faint, Canvas::Align::Middle);
}

void draw_curve(Canvas& canvas, const std::vector<QuantileCurve::Point>& points, const XOfPhi& x_of,
                const Scale& scale) {
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto from = static_cast<int>(x_of(points[i - 1].phi)), to = static_cast<int>(x_of(points[i].phi));
        const auto high = static_cast<int>(scale.y(points[i].upper)),
                   low = static_cast<int>(scale.y(points[i - 1].lower));
        canvas.fill({from, high, std::max(to - from, 1), std::max(low - high, 1)}, max_color, 0.5F);
    }
    std::vector<Point> line;
    for (const auto& point : points) line.push_back({x_of(point.phi), scale.y(point.value)});
    canvas.polyline(line, accent, 2);
}

void draw_all(Canvas& canvas, Box box, const QuantileCurve& curve, const Scale& scale, const Font& font) {
    canvas.label({box.x, box.y - title_height, box.width, title_height}, "all values, by the part below", font, faint);
    scale.draw(canvas, box, font);
    for (int i = 0; i <= 10; i += 2)
        vertical(canvas, box, box.x + i * box.width / 10, fmt::format("{} %", 10 * i), font);
    draw_curve(
        canvas, curve.points, [&](double phi) { return static_cast<float>(box.x + phi * box.width); }, scale);
}

// Each power of ten of 1 - phi has the same width.
void draw_tail(Canvas& canvas, Box box, const QuantileCurve& curve, const Scale& scale, const Font& font) {
    canvas.label({box.x, box.y - title_height, box.width, title_height}, "the largest values, by the part above", font,
                 faint);
    scale.draw(canvas, box, font);
    const double first = curve.tail.front().phi, last = curve.tail.back().phi;
    const double span = std::max(std::log((1 - first) / (1 - last)), 1e-9);
    const XOfPhi x_of = [&](double phi) {
        return static_cast<float>(box.x + box.width * std::log((1 - first) / (1 - phi)) / span);
    };
    vertical(canvas, box, box.x, fmt::format("{:.6g} %", 100 * (1 - first)), font);
    for (double part = 0.1; part >= (1 - last) * (1 - 1e-9) && part > 1e-12; part /= 10)
        vertical(canvas, box, static_cast<int>(x_of(1 - part)), fmt::format("{:.6g} %", 100 * part), font);
    draw_curve(canvas, curve.tail, x_of, scale);
}

}  // namespace

Canvas draw_quantiles(const QuantileCurve& curve, Size size) {
    Canvas canvas(size.width, size.height);
    const Font title(20, Weight::Bold), body(13), small(12);
    Box page = canvas.box().inset(20);
    canvas.label(page.take_top(title.line()), fmt::format("Quantiles of {} values", with_commas(curve.n)), title);
    canvas.paragraph(page.take_top(2 * body.line() + 8),
                     fmt::format("The value that a part of all values does not exceed. Ranks are within {:g} % of the "
                                 "stream; the band contains the exact curve.",
                                 100 * curve.eps),
                     body, faint);
    page.take_left(72);
    page.take_right(20);
    page.take_bottom(small.line() + 10);
    page.take_top(8 + title_height);
    double highest = curve.points.back().upper;
    for (const auto& point : curve.tail) highest = std::max(highest, point.upper);
    const Scale scale(curve.points.front().lower, highest, page.y, page.bottom());
    if (!curve.tail.empty()) {
        const Box right = page.take_right(page.width / 2);
        page.take_right(36);
        Box tail = right;
        tail.take_left(72);
        draw_tail(canvas, tail, curve, scale, small);
    }
    draw_all(canvas, page, curve, scale, small);
    return canvas;
}

}  // namespace quadmill::detail::show
