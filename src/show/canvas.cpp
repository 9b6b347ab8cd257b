#include "show/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace quadmill::detail::show {

namespace {

struct Face {
    int size, bold, line;
};
struct Glyph {
    int face, code, x, y, width, height, advance, first;
};
#include "font.inc"

constexpr std::size_t letters = std::size(glyphs) / std::size(faces);

// Removes the next UTF-8 letter from the words.
int next_letter(std::string_view& words) {
    const auto byte = [&](std::size_t i) { return i < words.size() ? static_cast<unsigned char>(words[i]) : 0U; };
    const auto first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    unsigned code = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) code = code << 6U | (byte(i) & 0x3fU);
    words.remove_prefix(std::min(length, words.size()));
    return static_cast<int>(code);
}

void drop_last_letter(std::string_view& words) {
    const auto inside = [&] { return (static_cast<unsigned char>(words.back()) & 0xc0U) == 0x80U; };
    while (words.size() > 1 && inside()) words.remove_suffix(1);
    words.remove_suffix(1);
}

const Glyph& glyph(int face, int code) {
    const auto* begin = glyphs + static_cast<std::size_t>(face) * letters;
    const auto* found = std::find_if(begin, begin + letters, [code](const Glyph& g) { return g.code == code; });
    return found == begin + letters ? begin['?' - ' '] : *found;
}

std::uint8_t mix_channel(std::uint8_t from, std::uint8_t to, float part) {
    return static_cast<std::uint8_t>(
        std::lround(static_cast<float>(from) + (static_cast<float>(to) - static_cast<float>(from)) * part));
}

}  // namespace

Color mix(Color from, Color to, float part) {
    return {mix_channel(from[0], to[0], part), mix_channel(from[1], to[1], part), mix_channel(from[2], to[2], part)};
}

Color heat(float t) {
    constexpr std::array<Color, 5> stops{{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
    const float position = std::clamp(t, 0.0F, 1.0F) * 4;
    const auto low = std::min<std::size_t>(static_cast<std::size_t>(position), 3);
    return mix(stops[low], stops[low + 1], position - static_cast<float>(low));
}

Box Box::take_top(int pixels) {
    const Box taken{x, y, width, pixels};
    y += pixels;
    height -= pixels;
    return taken;
}

Box Box::take_bottom(int pixels) {
    height -= pixels;
    return {x, bottom(), width, pixels};
}

Box Box::take_left(int pixels) {
    const Box taken{x, y, pixels, height};
    x += pixels;
    width -= pixels;
    return taken;
}

Box Box::take_right(int pixels) {
    width -= pixels;
    return {right(), y, pixels, height};
}

Font::Font(int pixels, Weight weight) : face_(weight == Weight::Bold ? 1 : 0) {
    for (int i = face_; i < static_cast<int>(std::size(faces)); i += 2) {
        if (faces[i].size <= pixels) face_ = i;
    }
}

int Font::line() const {
    return faces[face_].line;
}

int Font::width(std::string_view words) const {
    int sum = 0;
    while (!words.empty()) sum += glyph(face_, next_letter(words)).advance;
    return sum;
}

std::string shortened(std::string_view words, const Font& font, int width) {
    if (font.width(words) <= width) return std::string(words);
    while (!words.empty() && font.width(words) + font.width("…") > width) drop_last_letter(words);
    return std::string(words) + "…";
}

Canvas::Canvas(int width, int height, Color paper)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), paper) {}

void Canvas::set(int x, int y, Color color, float opacity) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    auto& pixel = pixels_[position(x, y)];
    pixel = opacity >= 1 ? color : mix(pixel, color, opacity);
}

void Canvas::fill(const Box& box, Color color, float opacity) {
    for (int y = std::max(box.y, 0); y < std::min(box.bottom(), height_); ++y) {
        for (int x = std::max(box.x, 0); x < std::min(box.right(), width_); ++x) set(x, y, color, opacity);
    }
}

void Canvas::frame(const Box& box, Color color, int thickness) {
    fill({box.x, box.y, box.width, thickness}, color);
    fill({box.x, box.bottom() - thickness, box.width, thickness}, color);
    fill({box.x, box.y, thickness, box.height}, color);
    fill({box.right() - thickness, box.y, thickness, box.height}, color);
}

namespace {

// Calls `each` for every pixel of a line with the part of it that is covered, computed from the distance of its centre.
template <class Each>
void for_covered(float x0, float y0, float x1, float y1, float half, Each&& each) {
    const float dx = x1 - x0, dy = y1 - y0, length = std::max(dx * dx + dy * dy, 1e-6F);
    const auto low = [&](float a, float b) { return static_cast<int>(std::floor(std::min(a, b) - half - 1)); };
    const auto high = [&](float a, float b) { return static_cast<int>(std::ceil(std::max(a, b) + half + 1)); };
    for (int y = low(y0, y1); y <= high(y0, y1); ++y) {
        for (int x = low(x0, x1); x <= high(x0, x1); ++x) {
            const float px = static_cast<float>(x) + 0.5F - x0, py = static_cast<float>(y) + 0.5F - y0;
            const float along = std::clamp((px * dx + py * dy) / length, 0.0F, 1.0F);
            const float away = std::hypot(px - along * dx, py - along * dy);
            const float cover = std::clamp(half + 0.5F - away, 0.0F, 1.0F);
            if (cover > 0) each(x, y, cover);
        }
    }
}

}  // namespace

void Canvas::line(float x0, float y0, float x1, float y1, Color color, float thickness, float opacity) {
    for_covered(x0, y0, x1, y1, thickness / 2,
                [&](int x, int y, float cover) { set(x, y, color, std::min(cover * opacity, 0.999F)); });
}

void Canvas::polyline(std::span<const Point> points, Color color, float thickness) {
    std::map<std::pair<int, int>, float> covers;  // a pixel near a joint is covered by two lines, but drawn once
    for (std::size_t i = 1; i < points.size(); ++i)
        for_covered(points[i - 1].x, points[i - 1].y, points[i].x, points[i].y, thickness / 2,
                    [&](int x, int y, float cover) {
                        covers[{y, x}] = std::max(covers[{y, x}], cover);
                    });
    for (const auto& [at, cover] : covers) set(at.second, at.first, color, cover);
}

void Canvas::arrow(float x0, float y0, float x1, float y1, Color color, float thickness) {
    line(x0, y0, x1, y1, color, thickness);
    const float length = std::max(std::hypot(x1 - x0, y1 - y0), 1e-3F), head = std::min(4 * thickness, length / 2);
    const float ux = (x1 - x0) / length * head, uy = (y1 - y0) / length * head;
    line(x1, y1, x1 - ux + uy * 0.6F, y1 - uy - ux * 0.6F, color, thickness);
    line(x1, y1, x1 - ux - uy * 0.6F, y1 - uy + ux * 0.6F, color, thickness);
}

void Canvas::text(int x, int y, std::string_view words, const Font& font, Color color, Align align) {
    const int width = font.width(words);
    if (align != Align::Left) x -= align == Align::Middle ? width / 2 : width;
    if (!words.empty() && (x < 0 || y < 0 || x + width > width_ || y + font.line() > height_)) clipped_ = true;
    while (!words.empty()) {
        const auto& letter = glyph(font.face_, next_letter(words));
        const auto* from = coverage + letter.first;
        for (int row = 0; row < letter.height; ++row) {
            for (int column = 0; column < letter.width; ++column, ++from) {
                if (*from) set(x + letter.x + column, y + letter.y + row, color, static_cast<float>(*from) / 255);
            }
        }
        x += letter.advance;
    }
}

void Canvas::label(const Box& box, std::string_view words, const Font& font, Color color) {
    clipped_ |= font.width(words) > box.width;
    text(box.x, box.y, shortened(words, font, box.width), font, color);
}

int Canvas::paragraph(const Box& box, std::string_view words, const Font& font, Color color) {
    int y = box.y;
    while (!words.empty()) {
        std::size_t end = 0;  // end of the words that fit
        for (std::size_t at = 0; at != std::string_view::npos && at < words.size();) {
            at = words.find(' ', at + 1);
            if (font.width(words.substr(0, at)) > box.width) break;
            end = std::min(at, words.size());
        }
        if (end == 0) {  // a single word that is too long
            clipped_ = true;
            end = std::min(words.find(' '), words.size());
        }
        if (y + font.line() > box.bottom()) {
            clipped_ = true;
            break;
        }
        text(box.x, y, words.substr(0, end), font, color);
        y += font.line();
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return y - box.y;
}

void Canvas::paste(const Canvas& other, int x, int y) {
    clipped_ |= other.clipped_;
    for (int row = 0; row < other.height_; ++row) {
        for (int column = 0; column < other.width_; ++column) set(x + column, y + row, other.at(column, row));
    }
}

Canvas from_lowest_row(const std::vector<Color>& pixels, int width, int height) {
    Canvas picture(width, height);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) picture.set(x, height - 1 - y, pixels[static_cast<std::size_t>(y * width + x)]);
    }
    return picture;
}

std::string with_commas(std::uint64_t number) {
    auto digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), 1, ',');
    return digits;
}

}  // namespace quadmill::detail::show
