// A picture in memory, drawn by the CPU: the same bytes on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadmill::detail::show {

using Color = std::array<std::uint8_t, 3>;

// Colours that the colour-blind can distinguish (Okabe and Ito; the paper's grey and orange for MIN and MAX).
inline constexpr Color white{255, 255, 255}, ink{34, 34, 34}, faint{110, 110, 110}, rule{205, 205, 205},
    shade{243, 243, 243}, min_color{140, 140, 140}, max_color{230, 159, 0}, accent{0, 114, 178}, alarm{213, 94, 0},
    sky{86, 180, 233}, leaf{0, 158, 115};

// From dark blue through green to yellow, with rising lightness, so that it also works in grey. t is from 0 to 1.
[[nodiscard]] Color heat(float t);
[[nodiscard]] Color mix(Color from, Color to, float part);

struct Box {
    int x = 0, y = 0, width = 0, height = 0;
    [[nodiscard]] int right() const { return x + width; }
    [[nodiscard]] int bottom() const { return y + height; }
    [[nodiscard]] bool holds(int at_x, int at_y) const {
        return at_x >= x && at_x < right() && at_y >= y && at_y < bottom();
    }
    [[nodiscard]] Box inset(int by) const { return {x + by, y + by, width - 2 * by, height - 2 * by}; }
    // Cuts off a side and leaves the rest.
    Box take_top(int pixels);
    Box take_bottom(int pixels);
    Box take_left(int pixels);
    Box take_right(int pixels);
};

struct Point {
    float x, y;
};

enum class Weight { Regular, Bold };

// The largest available font of at most that many pixels.
class Font {
  public:
    explicit Font(int pixels, Weight weight = Weight::Regular);
    [[nodiscard]] int line() const;
    [[nodiscard]] int width(std::string_view words) const;

  private:
    friend class Canvas;
    int face_;
};

// The letters that fit into that width, followed by "…" if some do not.
[[nodiscard]] std::string shortened(std::string_view words, const Font& font, int width);

class Canvas {
  public:
    Canvas(int width, int height, Color paper = white);
    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }
    [[nodiscard]] Box box() const { return {0, 0, width_, height_}; }
    // Row after row from the top, three bytes per pixel.
    [[nodiscard]] const std::vector<Color>& pixels() const { return pixels_; }
    [[nodiscard]] Color at(int x, int y) const { return pixels_[position(x, y)]; }

    // Ignores pixels outside.
    void set(int x, int y, Color color, float opacity = 1);
    void fill(const Box& box, Color color, float opacity = 1);
    void frame(const Box& box, Color color, int thickness = 1);
    void line(float x0, float y0, float x1, float y1, Color color, float thickness = 1, float opacity = 1);
    // Lines from each point to the next one. The joints are not darker.
    void polyline(std::span<const Point> points, Color color, float thickness);
    void arrow(float x0, float y0, float x1, float y1, Color color, float thickness = 1.5F);

    enum class Align { Left, Middle, Right };
    // One line of text with its top left (or top middle, or top right) at x, y.
    void text(int x, int y, std::string_view words, const Font& font, Color color = ink, Align align = Align::Left);
    // One line of text, which ends in "..." if the box is too small.
    void label(const Box& box, std::string_view words, const Font& font, Color color = ink);
    // Text with line breaks between words. Returns the height. Words that do not fit into the box are not drawn, and
    // clipped() is set.
    int paragraph(const Box& box, std::string_view words, const Font& font, Color color = ink);
    // Whether any text was cut off.
    [[nodiscard]] bool clipped() const { return clipped_; }

    void paste(const Canvas& other, int x, int y);

  private:
    [[nodiscard]] std::size_t position(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
    }
    int width_, height_;
    std::vector<Color> pixels_;
    bool clipped_ = false;
};

// A canvas from pixels in OpenGL's order, row after row from the bottom.
[[nodiscard]] Canvas from_lowest_row(const std::vector<Color>& pixels, int width, int height);

// Writes 12,345.
[[nodiscard]] std::string with_commas(std::uint64_t number);

}  // namespace quadmill::detail::show
