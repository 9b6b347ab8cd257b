#include "show/query_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "quadmill/error.hpp"
#include "query/gpu/depth_codes.hpp"
#include "query/table/cells.hpp"

namespace quadmill::detail::show {

namespace {

constexpr Color ruled_out{214, 214, 214};

struct QueryLayout : PageStyle {
    explicit QueryLayout(Size size);
    Box header, condition, explanation, scatter, depth, stencil, facts, strip, legend;
};

QueryLayout::QueryLayout(Size size) : PageStyle(size, 11, 14) {
    Box page = Box{0, 0, size.width, size.height}.inset(gap);
    const auto skip = [&] { page.take_top(gap / 2); };
    header = page.take_top(title.line());
    condition = page.take_top((large ? 1 : 2) * bold.line() + 2);
    explanation = page.take_top((large ? 2 : 3) * body.line() + 2);
    skip();
    legend = page.take_bottom(small.line());
    page.take_bottom(gap / 2);
    strip = page.take_bottom(large ? 116 : 74);
    page.take_bottom(gap / 2);
    scatter = page.take_left((page.width - gap) * 36 / 100);
    page.take_left(gap);
    facts = page.take_bottom(3 * (body.line() + (large ? 3 : 1)) + gap);
    page.take_bottom(gap / 2);
    depth = page.take_left((page.width - gap) / 2);
    page.take_left(gap);
    stencil = page;
}

// Values of a column. NULLs and NaNs are NaN.
std::vector<double> values_of(const Table& table, std::size_t column) {
    const query::Cells cells(*detail::Access::of(table), column);
    std::vector<double> values(table.rows());
    for (std::size_t row = 0; row < values.size(); ++row) {
        values[row] = cells.has_value(row) ? cells.visit(row, [](auto value) { return static_cast<double>(value); })
                                           : std::nan("");
    }
    return values;
}

std::size_t column_of(const Table& table, const std::string& name) {
    const auto& columns = table.columns();
    const auto found = std::ranges::find(columns, name, &ColumnInfo::name);
    if (found == columns.end()) throw InvalidArgument("show: the table has no column '" + name + "'");
    const auto column = static_cast<std::size_t>(found - columns.begin());
    const bool texture = std::holds_alternative<query::HostObjects>(detail::Access::of(table)->columns[column]->values);
    if (found->type == ColumnType::Text || texture)
        throw InvalidArgument("show: column '" + name + "' must hold numbers in memory");
    return column;
}

// From the smallest to the largest finite value.
ValueRange range_of(const std::vector<double>& values) {
    ValueRange range{std::nan(""), std::nan("")};
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        range.low = std::fmin(range.low, value);
        range.high = std::fmax(range.high, value);
    }
    if (std::isnan(range.low)) return {0, 1};
    return range;
}

// One axis of the scatter plot, with round numbers around all values.
struct Axis {
    Axis(const Table& table, const std::string& column)
        : name(column), values(values_of(table, column_of(table, column))) {
        const auto range = range_of(values);
        ticks = round_ticks(range.low, range.high);
    }
    // From 0 at the low end of the axis to 1.
    [[nodiscard]] double part(double value) const { return (value - ticks.front()) / (ticks.back() - ticks.front()); }
    [[nodiscard]] double value(double part) const { return ticks.front() + part * (ticks.back() - ticks.front()); }

    std::string name;
    std::vector<double> values;  // by row
    std::vector<double> ticks;
};

std::string tick_words(double tick) {
    const double size = std::abs(tick);
    if (size >= 1e6 && size < 1e15) return fmt::format("{:.4g}M", tick / 1e6);
    if (size >= 1e4 && size < 1e6) return fmt::format("{:.4g}k", tick / 1e3);
    return fmt::format("{:.4g}", tick);
}

// The part of the scatter plot's box that contains points.
Box plot_of(const QueryLayout& at) {
    Box box = at.scatter;
    box.take_top(at.small.line() + 2 + at.small.line() / 2);
    box.take_bottom(2 * at.small.line() + 6);
    box.take_left(at.small.width("1000k") + 6);
    box.take_right(4);
    return box;
}

// The number of clauses that hold: the more, the darker. Blue, or another hue if a comparison in several passes has set
// a flag.
Color stencil_color(const WatchedQuery& query, std::uint8_t value) {
    const auto level = static_cast<float>(std::max((value & query::level_bits) - 1, 0));
    const float part = level / static_cast<float>(std::max(query.levels - 1, 1));
    const auto ramp = [part](Color light, Color dark) { return mix(light, dark, part); };
    const auto undecided = ramp({240, 214, 229}, {150, 70, 115}), decided = ramp({255, 222, 150}, {196, 110, 0});
    switch (value & ~query::level_bits) {
        case 0:
            return ramp({226, 226, 230}, accent);
        case query::undecided:
            return undecided;
        case query::decided:
            return decided;
        default:
            return mix(undecided, decided, 0.5F);
    }
}

bool uses_stencil(const WatchedQuery& query) {
    return query.levels > 1;
}

Color depth_color(const QueryStep& step, std::size_t row) {
    const auto codes = step.content ? std::max(step.content->codes(), 2U) - 1 : ~std::uint32_t{0};
    return heat(static_cast<float>(static_cast<double>(step.depth[row]) / codes));
}

// The state of a row after a step, as the scatter plot and the strip show it.
enum class Fate { RuledOut, MayMatch, Passed };

Fate fate_of(const WatchedQuery& query, const QueryStep& step, std::size_t row) {
    if (!step.passed.empty() && step.passed[row]) return Fate::Passed;
    if (!uses_stencil(query) || step.stencil.empty()) return step.passed.empty() ? Fate::MayMatch : Fate::RuledOut;
    return step.level == 0 || (step.stencil[row] & query::level_bits) >= step.level ? Fate::MayMatch : Fate::RuledOut;
}

Color color_of(Fate fate) {
    return fate == Fate::Passed ? max_color : fate == Fate::MayMatch ? accent : ruled_out;
}

// Coloured by color_of(row), where rows are the cells of a square.
template <class ColorOf>
void paint_rows(Canvas& canvas, const Box& box, const WatchedQuery& query, ColorOf&& color_of) {
    const auto grid = row_grid(box, query);
    grid.paint(canvas, [&](std::size_t row) { return row < query.rows() ? color_of(row) : white; });
    grid.frame(canvas, rule);
}

struct StripCell {
    std::size_t step;
    Box box;
};

// The cells that there is room for, around the current one.
std::vector<StripCell> strip_cells(const WatchedQuery& query, const QueryView& view, const QueryLayout& at) {
    const auto count = query.steps.size();
    const int gap = at.large ? 10 : 6, min = at.large ? 58 : 42;
    const auto room = static_cast<std::size_t>((at.strip.width + gap) / (min + gap));
    const auto shown = std::min(count, room);
    const auto wanted = view.step > shown / 2 ? view.step - shown / 2 : 0;
    const auto first = std::min(wanted, count - shown);
    const int labels = 2 * at.small.line();
    const int width = std::min((at.strip.width + gap) / static_cast<int>(shown) - gap, at.strip.height - labels);
    std::vector<StripCell> cells;
    for (std::size_t i = 0; i < shown; ++i)
        cells.push_back(
            {first + i,
             {at.strip.x + static_cast<int>(i) * (width + gap), at.strip.y + 3, width, at.strip.height - 3}});
    return cells;
}

class QueryDrawing {
  public:
    QueryDrawing(const WatchedQuery& query, const QueryView& view, Size size)
        : query_(query), view_(view), step_(query.steps.at(view.step)), at_(size), canvas_(size.width, size.height) {}

    Canvas draw() {
        header();
        scatter();
        buffers();
        facts();
        strip();
        legend();
        return std::move(canvas_);
    }

  private:
    void header() {
        canvas_.text(at_.header.x, at_.header.y, title_of(query_, view_.step), at_.title);
        canvas_.text(at_.header.right(), at_.header.y,
                     fmt::format("COUNT = {} of {}", with_commas(query_.count), with_commas(query_.rows())), at_.title,
                     accent, Canvas::Align::Right);
        canvas_.paragraph(at_.condition, sql_of(query_), at_.bold);
        canvas_.paragraph(at_.explanation, explain(query_, view_.step), at_.body, faint);
    }

    void scatter() {
        const Axis x(query_.table, view_.x), y(query_.table, view_.y);
        Box box = at_.scatter;
        heading(canvas_, box, fmt::format("{} (up) and {}", y.name, x.name), at_.small);
        const auto plot = plot_of(at_);
        axes(plot, x, y);
        for (const auto fate : {Fate::RuledOut, Fate::MayMatch, Fate::Passed}) points(plot, x, y, fate);
        if (view_.rectangle) outline(plot, x, y, *view_.rectangle);
    }

    void axes(const Box& plot, const Axis& x, const Axis& y) {
        canvas_.frame(plot.inset(-1), rule);
        for (const double tick : y.ticks) {
            const int line = y_of(plot, y, tick);
            canvas_.fill({plot.x, line, plot.width, 1}, shade);
            canvas_.text(plot.x - 4, line - at_.small.line() / 2, tick_words(tick), at_.small, faint,
                         Canvas::Align::Right);
        }
        int widest = 0;
        for (const double tick : x.ticks) widest = std::max(widest, at_.small.width(tick_words(tick)) + 8);
        const auto labels = std::max<std::size_t>(static_cast<std::size_t>(plot.width / widest), 1);
        const auto each = (x.ticks.size() + labels - 1) / labels;
        for (std::size_t i = 0; i < x.ticks.size(); ++i) {
            const int line = x_of(plot, x, x.ticks[i]);
            canvas_.fill({line, plot.y, 1, plot.height}, shade);
            if (i % each != 0) continue;
            const auto words = tick_words(x.ticks[i]);
            const int half = at_.small.width(words) / 2;
            canvas_.text(std::clamp(line, plot.x + half, plot.right() - half), plot.bottom() + 4, words, at_.small,
                         faint, Canvas::Align::Middle);
        }
        canvas_.text(plot.right(), plot.bottom() + 4 + at_.small.line(), x.name, at_.small, faint,
                     Canvas::Align::Right);
    }

    [[nodiscard]] static int x_of(const Box& plot, const Axis& axis, double value) {
        return plot.x + static_cast<int>(std::lround(std::clamp(axis.part(value), -0.01, 1.01) * plot.width));
    }
    [[nodiscard]] static int y_of(const Box& plot, const Axis& axis, double value) {
        return plot.bottom() - static_cast<int>(std::lround(std::clamp(axis.part(value), -0.01, 1.01) * plot.height));
    }

    void points(const Box& plot, const Axis& x, const Axis& y, Fate fate) {
        const int side = query_.rows() > 20000 ? 1 : at_.large ? 3 : 2;
        for (std::size_t row = 0; row < query_.rows(); ++row) {
            const double right = x.values[row], up = y.values[row];
            if (fate_of(query_, step_, row) != fate || !std::isfinite(right) || !std::isfinite(up)) continue;
            canvas_.fill({x_of(plot, x, right) - side / 2, y_of(plot, y, up) - side / 2, side, side}, color_of(fate));
        }
    }

    void outline(const Box& plot, const Axis& x, const Axis& y, const Rectangle& of) {
        const int left = x_of(plot, x, of.x0), right = x_of(plot, x, of.x1);
        const int top = y_of(plot, y, of.y1), bottom = y_of(plot, y, of.y0);
        const Box box{left, top, std::max(right - left, 2), std::max(bottom - top, 2)};
        canvas_.fill(box, accent, 0.08F);
        canvas_.frame(box, ink, at_.large ? 2 : 1);
    }

    void buffers() {
        if (query_.engine == QueryEngine::Bitmap) return selection();
        Box depth = at_.depth, stencil = at_.stencil;
        heading(canvas_, depth, "depth buffer: " + content_name(), at_.small);
        draw_depth(canvas_, depth, query_, step_);
        stencil_heading(stencil);
        draw_stencil(canvas_, stencil, query_, step_);
    }

    [[nodiscard]] std::string content_name() const {
        if (step_.depth.empty() || !step_.content) return "nothing yet";
        const auto& columns = query_.table.columns();
        const auto& name = columns[step_.content->column].name;
        return step_.content->less ? name + " - " + columns[*step_.content->less].name : name;
    }

    // With the meaning of its colours, if there is room.
    void stencil_heading(Box& box) {
        Box line = box.take_top(at_.small.line() + 2);
        line.height -= 2;
        if (!uses_stencil(query_)) return canvas_.label(line, "stencil buffer: of no use here", at_.small);
        canvas_.text(line.x, line.y, "stencil", at_.small);
        line.take_left(at_.small.width("stencil") + 8);
        const int gap = at_.large ? 10 : 3;
        const auto add = [&](std::uint8_t value, const std::string& words) {
            if (line.width >= 16 + at_.small.width(words))
                swatch(canvas_, line, stencil_color(query_, value), words, at_.small, gap);
        };
        for (int level = 1; level <= query_.levels; ++level)
            add(static_cast<std::uint8_t>(level), std::to_string(level));
        for (const int flag : {query::undecided, query::decided}) {
            if ((query_.flags & flag) != 0) add(static_cast<std::uint8_t>(flag | 1), std::to_string(flag));
        }
    }

    void selection() {
        Box bits = at_.depth, words = at_.stencil;
        heading(canvas_, bits, "the selection: a bit a row", at_.small);
        draw_result(canvas_, bits, query_, step_);
        words.take_top(at_.small.line() + 2);
        canvas_.paragraph(words,
                          "The bitmap engine: fragment programs read the columns as textures and write 32 rows' bits "
                          "as a word. A condition of several parts combines such words; to count is to add up bits.",
                          at_.small, faint);
    }

    void facts() {
        canvas_.fill(at_.facts, shade);
        Box left = at_.facts.inset(at_.gap / 2), whole = left;
        left = whole.take_left((whole.width - 2 * at_.gap) / 2);
        whole.take_left(2 * at_.gap);
        const int below = at_.large ? 3 : 1;
        const auto add = [&](Box& box, const std::string& words, const std::string& value) {
            fact(canvas_, box, words, value, at_.body, below);
        };
        add(left, "pass", fmt::format("{} of {}", view_.step, query_.steps.size() - 1));
        add(left, "engine", query_.engine == QueryEngine::Depth ? "depth" : "bitmap");
        add(left, "passed", step_.passed.empty() ? "-" : with_commas(step_.rows_passed()));
        add(whole, "depth test", view_.step == 0 ? "-" : depth_words(query_, view_.step));
        add(whole, "stencil test", view_.step == 0 ? "-" : stencil_words(step_));
        add(whole, query_.engine == QueryEngine::Depth ? "occlusion query" : "read back",
            step_.counted ? with_commas(*step_.counted) : "-");
    }

    void strip() {
        for (const auto& [step, whole] : strip_cells(query_, view_, at_)) {
            Box box = whole;
            const auto& of = query_.steps[step];
            const int labels = 2 * at_.small.line();
            box.height = std::min(box.width, box.height - labels);
            const Box thumbnail = row_grid(box, query_).area;
            draw_result(canvas_, box, query_, of);
            const int middle = box.x + box.width / 2, below = thumbnail.bottom() + 5;
            const bool now = step == view_.step;
            canvas_.text(middle, below, shortened(of.name, at_.small, box.width + 4), at_.small, now ? ink : faint,
                         Canvas::Align::Middle);
            if (of.counted)
                canvas_.text(middle, below + at_.small.line(), with_commas(*of.counted), at_.small, accent,
                             Canvas::Align::Middle);
            if (now) canvas_.frame(thumbnail.inset(-3), ink, 2);
        }
    }

    void legend() {
        draw_query_legend(canvas_, at_.legend, query_, at_.small, at_.large ? 22 : 10);
        canvas_.text(at_.legend.right(), at_.legend.y, "drag a rectangle, click a pass", at_.small, faint,
                     Canvas::Align::Right);
    }

    const WatchedQuery& query_;
    const QueryView& view_;
    const QueryStep& step_;
    QueryLayout at_;
    Canvas canvas_;
};

}  // namespace

ValueRange range_of(const Table& table, const std::string& column) {
    return range_of(values_of(table, column_of(table, column)));
}

Grid row_grid(const Box& box, const WatchedQuery& query) {
    const auto side = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(query.rows()))));
    return {box, side, side};
}

void draw_depth(Canvas& canvas, const Box& box, const WatchedQuery& query, const QueryStep& step) {
    paint_rows(canvas, box, query,
               [&](std::size_t row) { return step.depth.empty() ? shade : depth_color(step, row); });
}

void draw_stencil(Canvas& canvas, const Box& box, const WatchedQuery& query, const QueryStep& step) {
    const bool there = uses_stencil(query) && !step.stencil.empty();
    paint_rows(canvas, box, query,
               [&](std::size_t row) { return there ? stencil_color(query, step.stencil[row]) : shade; });
}

void draw_result(Canvas& canvas, const Box& box, const WatchedQuery& query, const QueryStep& step) {
    if (step.is_load()) return draw_depth(canvas, box, query, step);
    if (step.stencil_test) return draw_stencil(canvas, box, query, step);
    paint_rows(canvas, box, query, [&](std::size_t row) { return color_of(fate_of(query, step, row)); });
}

void draw_query_legend(Canvas& canvas, Box box, const WatchedQuery& query, const Font& font, int gap) {
    const bool depth = query.engine == QueryEngine::Depth;
    if (depth) box.take_left(draw_scale(canvas, box, font) + gap);
    swatch(canvas, box, max_color, depth ? "passes now" : "bit set", font, gap);
    swatch(canvas, box, accent, depth ? "may match" : "no bit yet", font, gap);
    swatch(canvas, box, ruled_out, depth ? "ruled out" : "bit not set", font, gap);
}

Canvas draw_query(const WatchedQuery& query, const QueryView& view, Size size) {
    return QueryDrawing(query, view, size).draw();
}

Box scatter_box(Size size) {
    return plot_of(QueryLayout(size));
}

std::array<double, 2> scatter_values(const Table& table, const QueryView& view, Size size, int x, int y) {
    const auto plot = scatter_box(size);
    const double right = static_cast<double>(x - plot.x) / plot.width;
    const double up = static_cast<double>(plot.bottom() - y) / plot.height;
    return {Axis(table, view.x).value(right), Axis(table, view.y).value(up)};
}

std::optional<std::size_t> step_at(const WatchedQuery& query, const QueryView& view, Size size, int x, int y) {
    for (const auto& [step, box] : strip_cells(query, view, QueryLayout(size))) {
        if (box.holds(x, y)) return step;
    }
    return {};
}

}  // namespace quadmill::detail::show
