#include "show/parts.hpp"

namespace quadmill::detail::show {

Grid::Grid(const Box& box, int texels_wide, int texels_high) : width(texels_wide) {
    const int enlarged = std::min(box.width / texels_wide, box.height / texels_high);
    const int reduced =
        std::max((texels_wide + box.width - 1) / box.width, (texels_high + box.height - 1) / box.height);
    scale = enlarged > 0 ? static_cast<float>(enlarged) : 1.0F / static_cast<float>(reduced);
    const auto wide = static_cast<int>(static_cast<float>(texels_wide) * scale);
    const auto high = static_cast<int>(static_cast<float>(texels_high) * scale);
    area = {box.x + (box.width - wide) / 2, box.y, wide, high};
}

Box Grid::cells(float x0, float y0, float x1, float y1) const {
    const auto left = static_cast<int>(std::lround(x0 * scale)), right = static_cast<int>(std::lround(x1 * scale));
    const auto low = static_cast<int>(std::lround(y0 * scale)), high = static_cast<int>(std::lround(y1 * scale));
    return {area.x + left, area.bottom() - high, right - left, high - low};
}

void heading(Canvas& canvas, Box& box, const std::string& words, const Font& font, Color color) {
    canvas.label(box.take_top(font.line() + 2), words, font, color);
}

void fact(Canvas& canvas, Box& box, const std::string& words, const std::string& value, const Font& font, int gap) {
    canvas.text(box.x, box.y, words, font, faint);
    canvas.text(box.right(), box.y, value, font, ink, Canvas::Align::Right);
    box.take_top(font.line() + gap);
}

void swatch(Canvas& canvas, Box& box, Color color, const std::string& words, const Font& font, int gap) {
    canvas.fill({box.x, box.y + 2, 12, box.height - 4}, color);
    box.take_left(16);
    canvas.text(box.x, box.y, words, font);
    box.take_left(font.width(words) + gap);
}

int draw_scale(Canvas& canvas, const Box& box, const Font& font) {
    canvas.text(box.x, box.y, "small", font);
    const int from = box.x + font.width("small") + 5;
    for (int i = 0; i < 80; ++i)
        canvas.fill({from + i, box.y + 2, 1, box.height - 4}, heat(static_cast<float>(i) / 79));
    canvas.text(from + 85, box.y, "large", font);
    return from + 85 + font.width("large") - box.x;
}

double round_step(double min) {
    const double power = std::pow(10, std::floor(std::log10(min)));
    double step = 10 * power;
    for (const double part : {5, 2, 1}) step = part * power >= min ? part * power : step;
    return step;
}

std::vector<double> round_ticks(double low, double high) {
    constexpr double smallest = 1e-300, largest = 1e300;  // beyond these, steps would be 0 or infinite
    low = std::clamp(low, -largest, largest);
    high = std::clamp(high, -largest, largest);
    if (high - low < smallest) high = low + std::max(std::abs(low), 1.0) * 1e-3;
    const double step = round_step((high - low) / 8);
    const double first = std::floor(low / step) * step, last = std::ceil(high / step) * step;
    std::vector<double> ticks;
    for (int i = 0; first + i * step <= last + step / 2; ++i) {
        const double tick = first + i * step;
        ticks.push_back(std::abs(tick) < step * 1e-6 ? 0 : tick);
    }
    return ticks;
}

}  // namespace quadmill::detail::show
