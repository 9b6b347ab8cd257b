#include "show/quantile_plot.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "show/scale.hpp"

namespace quadmill::detail::show {

namespace {

void axes(Canvas& canvas, const Box& box, const Scale& scale, const Font& font) {
    scale.draw(canvas, box, font);
    for (int i = 0; i <= 10; ++i) {
        const int x = box.x + i * box.width / 10;
        canvas.fill({x, box.y, 1, box.height}, shade);
        canvas.text(x, box.bottom() + 6, fmt::format("{} %", 10 * i), font, faint, Canvas::Align::Middle);
    }
}

}  // namespace

Canvas draw_quantiles(const QuantileCurve& curve, Size size) {
    Canvas canvas(size.width, size.height);
    const Font title(20, Weight::Bold), body(13), small(12);
    Box page = canvas.box().inset(20);
    canvas.label(page.take_top(title.line()), fmt::format("Quantiles of {} values", with_commas(curve.n)), title);
    canvas.paragraph(page.take_top(2 * body.line() + 8),
                     fmt::format("The value that a part of all values does not exceed, by that part. Ranks are within "
                                 "{:g} % of the stream; the band surely holds the exact curve.",
                                 100 * curve.eps),
                     body, faint);
    page.take_left(72);
    page.take_right(20);
    page.take_bottom(small.line() + 10);
    page.take_top(8);
    const Scale scale(curve.points.front().lower, curve.points.back().upper, page.y, page.bottom());
    axes(canvas, page, scale, small);
    const auto x_of = [&](double phi) { return static_cast<float>(page.x + phi * page.width); };
    const auto& points = curve.points;
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto from = static_cast<int>(x_of(points[i - 1].phi)), to = static_cast<int>(x_of(points[i].phi));
        const auto high = static_cast<int>(scale.y(points[i].upper)),
                   low = static_cast<int>(scale.y(points[i - 1].lower));
        canvas.fill({from, high, std::max(to - from, 1), std::max(low - high, 1)}, max_color, 0.5F);
    }
    std::vector<Point> line;
    for (const auto& point : points) line.push_back({x_of(point.phi), scale.y(point.value)});
    canvas.polyline(line, accent, 2);
    return canvas;
}

}  // namespace quadmill::detail::show
