#include <fmt/core.h>

#include "show/parts.hpp"
#include "show/query_page.hpp"

namespace quadmill::detail::show {

namespace {

constexpr Sheet query_tiles{4};
constexpr int half_tile = (query_tiles.tile_width() - Sheet::inner_gap) / 2;

// The height of a square with one cell per row.
int square_of(const WatchedQuery& query) {
    return row_grid({0, 0, half_tile, half_tile}, query).area.height;
}

void draw_tile(Canvas& canvas, Box box, const WatchedQuery& query, std::size_t index) {
    const Font bold(12, Weight::Bold), small(11);
    const auto& step = query.steps[index];
    const bool depth = query.engine == QueryEngine::Depth;
    const auto line = [&](const Font& font, const std::string& words, Color color) {
        canvas.label(box.take_top(font.line() + 1), words, font, color);
    };
    line(bold, index == 0 ? title_of(query, 0) : fmt::format("{}. {}", index, step.name), ink);
    line(small, depth && index > 0 ? "depth: " + depth_words(query, index) : "", faint);
    line(small, depth && index > 0 ? "stencil: " + stencil_words(step) : "", faint);
    Box grids = box.take_top(square_of(query) + 4);
    grids.height -= 4;
    if (depth) draw_depth(canvas, grids.take_left(half_tile), query, step);
    if (depth) grids.take_left(Sheet::inner_gap);
    draw_result(canvas, grids.take_left(half_tile), query, step);
    if (step.counted) line(bold, "counted: " + with_commas(*step.counted), accent);
}

std::string summary(const WatchedQuery& query) {
    const auto rows = with_commas(query.rows());
    if (query.engine == QueryEngine::Bitmap)
        return fmt::format(
            "{} rows, {} passes of the bitmap engine. Each tile shows the selection that the pass wrote or counted, a "
            "cell a row, the first row at the lower left.",
            rows, query.steps.size() - 1);
    return fmt::format(
        "{} rows, {} passes of the depth engine. Each tile shows the depth buffer on the left and, on the right, the "
        "stencil buffer after the pass, or the fragments that passed; a cell a row, the first row at the lower left.",
        rows, query.steps.size() - 1);
}

}  // namespace

Canvas query_sheet(const WatchedQuery& query, const std::string& others) {
    const Font title(24, Weight::Bold), body(13), bold(13, Weight::Bold), small(12);
    const int tile_height = 4 * Font(12).line() + square_of(query) + Sheet::gap;
    const int rows = query_tiles.rows(query.steps.size());
    const int note = others.empty() ? 0 : body.line() + 4;
    const int head = Sheet::margin + title.line() + 2 * bold.line() + note + 2 * body.line() + Sheet::gap;
    Canvas canvas(Sheet::page_width, head + rows * tile_height + small.line() + Sheet::margin);
    Box page{Sheet::margin, Sheet::margin, Sheet::page_width - 2 * Sheet::margin, canvas.height() - 2 * Sheet::margin};
    Box top = page.take_top(title.line());
    canvas.text(top.x, top.y, "A query, pass by pass", title);
    canvas.text(top.right(), top.y, "COUNT = " + with_commas(query.count), title, accent, Canvas::Align::Right);
    canvas.paragraph(page.take_top(2 * bold.line()), sql_of(query), bold);
    if (note > 0) {
        canvas.label(page.take_top(note),
                     "The query asks for " + others + "; this page shows how its rows are counted.", body, alarm);
    }
    canvas.paragraph(page.take_top(2 * body.line()), summary(query), body, faint);
    page.take_top(Sheet::gap);
    for (std::size_t i = 0; i < query.steps.size(); ++i) {
        draw_tile(canvas, query_tiles.tile(page, i, tile_height), query, i);
    }
    page.take_top(rows * tile_height);
    draw_query_legend(canvas, page.take_top(small.line()), query, small, Sheet::gap);
    return canvas;
}

}  // namespace quadmill::detail::show
