// A pass of a query as a picture. Deterministic: the same query, view and size give the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "show/canvas.hpp"
#include "show/parts.hpp"
#include "show/png.hpp"
#include "show/query_passes.hpp"

namespace quadmill::detail::show {

// A range of each of two columns.
struct Rectangle {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // x0 <= x1, y0 <= y1
    bool operator==(const Rectangle&) const = default;
};

struct QueryView {
    std::size_t step = 0;
    std::string x, y;                      // numeric columns for the axes of the scatter plot
    std::optional<Rectangle> rectangle{};  // drawn over the plot
};

// Pre: view.step < query.steps.size(); the size is at least 640 x 480.
[[nodiscard]] Canvas draw_query(const WatchedQuery& query, const QueryView& view, Size size);

// The box of the scatter plot in draw_query(); and the values at a pixel in it or beyond its sides.
[[nodiscard]] Box scatter_box(Size size);
[[nodiscard]] std::array<double, 2> scatter_values(const Table& table, const QueryView& view, Size size, int x, int y);
// The step that the strip of passes shows at that pixel, if any.
[[nodiscard]] std::optional<std::size_t> step_at(const WatchedQuery& query, const QueryView& view, Size size, int x,
                                                 int y);

// All passes on one page, which is as high as needed. `others` are outputs of the query that the count does not show,
// or empty.
[[nodiscard]] Canvas query_sheet(const WatchedQuery& query, const std::string& others = {});

// Parts of pictures for other pages: the depth buffer, the stencil buffer, and the result of a pass, with one cell per
// row of the table, in the largest square in the box; and a legend of colours.
[[nodiscard]] Grid row_grid(const Box& box, const WatchedQuery& query);
void draw_depth(Canvas& canvas, const Box& box, const WatchedQuery& query, const QueryStep& step);
void draw_stencil(Canvas& canvas, const Box& box, const WatchedQuery& query, const QueryStep& step);
void draw_result(Canvas& canvas, const Box& box, const WatchedQuery& query, const QueryStep& step);
void draw_query_legend(Canvas& canvas, Box box, const WatchedQuery& query, const Font& font, int gap);

// The range of a numeric column in memory: from the smallest to the largest finite value. Throws InvalidArgument for
// other columns.
struct ValueRange {
    double low = 0, high = 0;
};
[[nodiscard]] ValueRange range_of(const Table& table, const std::string& column);

// "SELECT COUNT(*) WHERE ...".
[[nodiscard]] std::string sql_of(const WatchedQuery& query);
// "pass 3 of 12: at most".
[[nodiscard]] std::string title_of(const WatchedQuery& query, std::size_t step);
// An explanation of that pass in a sentence or two.
[[nodiscard]] std::string explain(const WatchedQuery& query, std::size_t step);
// Its depth tests in a few words; empty if there are none.
[[nodiscard]] std::string depth_words(const WatchedQuery& query, std::size_t step);
[[nodiscard]] std::string stencil_words(const QueryStep& step);

}  // namespace quadmill::detail::show
