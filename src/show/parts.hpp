// Common parts of pages.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "show/canvas.hpp"
#include "show/png.hpp"

namespace quadmill::detail::show {

// Fonts and gaps of a page of that size. `small_size` and `wide_gap` are those of a large page.
struct PageStyle {
    PageStyle(Size size, int small_size, int wide_gap)
        : large(size.width >= 1000 && size.height >= 700),
          title(large ? 20 : 15, Weight::Bold),
          body(large ? 13 : 11),
          small(large ? small_size : 10),
          bold(large ? 13 : 11, Weight::Bold),
          gap(large ? wide_gap : wide_gap / 2) {}
    bool large;
    Font title, body, small, bold;
    int gap;
};

// A page to print: tiles of the same size in rows, `columns` next to each other.
struct Sheet {
    static constexpr int page_width = 1240, margin = 28, gap = 18, inner_gap = 6;  // between tiles, and within a tile
    int columns;
    [[nodiscard]] constexpr int tile_width() const { return (page_width - 2 * margin - (columns - 1) * gap) / columns; }
    [[nodiscard]] int rows(std::size_t tiles) const { return (static_cast<int>(tiles) + columns - 1) / columns; }
    // The box of that tile in rows of that height. The first tile is at the upper left corner of `page`.
    [[nodiscard]] Box tile(const Box& page, std::size_t index, int height) const {
        const int column = static_cast<int>(index) % columns, row = static_cast<int>(index) / columns;
        return {page.x + column * (tile_width() + gap), page.y + row * height, tile_width(), tile_width()};
    }
};

// Texels in a box, where a texel is several whole pixels, or a pixel several whole texels. The first row is the lowest,
// as in OpenGL.
struct Grid {
    Grid(const Box& box, int texels_wide, int texels_high);
    [[nodiscard]] Box cells(float x0, float y0, float x1, float y1) const;
    // Colours from color_of(texel); texels are counted row after row from below.
    template <class ColorOf>
    void paint(Canvas& canvas, ColorOf&& color_of) const;
    // A frame around the grid.
    void frame(Canvas& canvas, Color color) const { canvas.frame(area.inset(-1), color); }

    Box area;
    float scale;  // pixels per texel: a whole number, or one divided by a whole number
    int width;    // in texels
};

template <class ColorOf>
void Grid::paint(Canvas& canvas, ColorOf&& color_of) const {
    for (int y = 0; y < area.height; ++y) {
        for (int x = 0; x < area.width; ++x) {
            const auto column = static_cast<int>((static_cast<float>(x) + 0.5F) / scale);
            const auto row = static_cast<int>((static_cast<float>(y) + 0.5F) / scale);
            canvas.set(area.x + x, area.bottom() - 1 - y,
                       color_of(static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                                static_cast<std::size_t>(column)));
        }
    }
}

// A line of text at the top of a box. The line is removed from the box.
void heading(Canvas& canvas, Box& box, const std::string& words, const Font& font, Color color = ink);
// Text on the left of a box and a value on the right. The line and `gap` below it are removed from the box.
void fact(Canvas& canvas, Box& box, const std::string& words, const std::string& value, const Font& font, int gap);
// A colour and its meaning at the left of a box. They and `gap` are removed from the box.
void swatch(Canvas& canvas, Box& box, Color color, const std::string& words, const Font& font, int gap);
// Small values are dark, large ones light. Returns the width.
int draw_scale(Canvas& canvas, const Box& box, const Font& font);

// The smallest of 1, 2 and 5 times a power of ten that is not less than `min`.
[[nodiscard]] double round_step(double min);
// Round numbers at equal distances, from at or below `low` to at or above `high`, within +-1e300.
[[nodiscard]] std::vector<double> round_ticks(double low, double high);

}  // namespace quadmill::detail::show
