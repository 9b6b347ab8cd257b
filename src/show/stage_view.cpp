#include "show/stage_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "show/parts.hpp"

namespace quadmill::detail::show {

namespace {

constexpr Color padding_color{225, 225, 232};
constexpr std::array<const char*, 4> channel_names{"red", "green", "blue", "alpha"};

struct StageLayout : PageStyle {
    explicit StageLayout(Size size);
    Box header, explanation, quads, channels, elements, side, line, legend;
};

StageLayout::StageLayout(Size size) : PageStyle(size, 11, 14) {
    Box page = Box{0, 0, size.width, size.height}.inset(gap);
    const auto skip = [&] { page.take_top(gap / 2); };
    header = page.take_top(title.line());
    explanation = page.take_top((large ? 2 : 3) * body.line() + 2);
    skip();
    legend = page.take_bottom(small.line());
    page.take_bottom(gap / 2);
    line = page.take_bottom(large ? 74 : 52);
    page.take_bottom(gap / 2);
    side = page.take_right(large ? 280 : 158);
    page.take_right(gap);
    Box top = page.take_top((page.height - gap) * (large ? 63 : 66) / 100);
    page.take_top(gap);
    elements = page;
    quads = top.take_left((top.width - gap) / 2);
    top.take_left(gap);
    channels = top;
}

// Paints the texels with color_of(place).
template <class ColorOf>
Grid paint_texels(Canvas& canvas, const Box& box, const Stages& stages, int channel, ColorOf&& color_of) {
    const Grid grid(box, stages.width, stages.height);
    grid.paint(canvas, [&](std::size_t texel) {
        return color_of(static_cast<Place>(4 * texel + static_cast<std::size_t>(channel)));
    });
    return grid;
}

Color color_of(const Stages& stages, float key) {
    const float rank = stages.rank(key);
    return rank > 1 ? padding_color : heat(rank);
}

// For each place, what it keeps at the end of a step.
std::vector<Keep> kept(const Stages& stages, const Step& step) {
    std::vector<Keep> keeps(4 * stages.texels(), Keep::None);
    for (const auto& [low, high] : step.comparators) {
        keeps[low] = Keep::Min;
        keeps[high] = Keep::Max;
    }
    if (!step.comparators.empty()) return keeps;
    for (const auto& [quad, keep] : step.quads) {  // of the merge engine, whose quads cover each layer
        const auto from = static_cast<std::size_t>(quad.target.y0) * static_cast<std::size_t>(stages.width);
        const auto to = static_cast<std::size_t>(quad.target.y1) * static_cast<std::size_t>(stages.width);
        std::fill(keeps.begin() + static_cast<std::ptrdiff_t>(4 * from),
                  keeps.begin() + static_cast<std::ptrdiff_t>(4 * to), keep);
    }
    return keeps;
}

class StageDrawing {
  public:
    StageDrawing(const Stages& stages, const View& view, Size size)
        : stages_(stages),
          view_(view),
          step_(stages.steps.at(view.step)),
          at_(size),
          canvas_(size.width, size.height) {}

    Canvas draw() {
        header();
        quads();
        channels();
        elements();
        side();
        line();
        legend();
        return std::move(canvas_);
    }

  private:
    void header() {
        const auto& request = stages_.request;
        const auto title = fmt::format("{}: {}", name_of(request.engine), title_of(stages_, view_.step));
        canvas_.text(at_.header.x, at_.header.y, title, at_.title);
        canvas_.text(at_.header.right(), at_.header.y, order_words(step_), at_.title,
                     step_.out_of_order == 0 ? accent : alarm, Canvas::Align::Right);
        canvas_.paragraph(at_.explanation, explain(stages_, view_.step), at_.body, faint);
    }

    void heading(Box& box, const std::string& words) { show::heading(canvas_, box, words, at_.small); }

    void quads() {
        Box box = at_.quads;
        const bool merge = stages_.request.engine == Watched::Merge;
        heading(box, step_.quads.empty()
                         ? "the texture: no quads are drawn yet"
                         : fmt::format("{} quad{} of this step{}", with_commas(step_.quads.size()),
                                       step_.quads.size() == 1 ? "" : "s", merge ? ", in 8 layers" : ", red channel"));
        const auto keeps = kept(stages_, step_);
        const auto grid = paint_texels(canvas_, box, stages_, 0, [&](Place position) {
            const float rank = std::min(stages_.rank(step_.keys[position]), 1.0F);
            const auto keep = keeps[position];
            const auto full = keep == Keep::Min ? min_color : keep == Keep::Max ? max_color : rule;
            return mix(mix(full, ink, 0.55F), mix(full, white, 0.35F), rank);
        });
        outlines(grid, merge ? stages_.layers : 1);
        arrows(grid);
        grid.frame(canvas_, faint);
    }

    void outlines(const Grid& grid, int layers) {
        const auto across = static_cast<float>(stages_.width / layers);
        for (const auto& [quad, keep] : step_.quads) {
            for (int layer = 0; layer < layers; ++layer) {
                const float moved = across * static_cast<float>(layer);
                const auto box =
                    grid.cells(quad.target.x0 + moved, quad.target.y0, quad.target.x1 + moved, quad.target.y1);
                if (box.width > 3 && box.height > 3) canvas_.frame(box, ink);
            }
        }
    }

    // Arrows from the position where the smaller key stays to the one where the larger key goes, for the red channel.
    void arrows(const Grid& grid) {
        if (grid.scale < 20 || stages_.texels() > 64) return;
        const auto center = [&](Place position) {
            const auto texel = static_cast<int>(position / 4);
            const auto x = (static_cast<float>(texel % stages_.width) + 0.5F) * grid.scale;
            const auto y = (static_cast<float>(texel / stages_.width) + 0.5F) * grid.scale;
            return std::array{static_cast<float>(grid.area.x) + x, static_cast<float>(grid.area.bottom()) - y};
        };
        for (const auto& [low, high] : step_.comparators) {
            if (low % 4 != 0 || high % 4 != 0) continue;
            auto from = center(low), to = center(high);
            aside(grid, low / 4, high / 4, from, to);
            canvas_.line(from[0], from[1], to[0], to[1], white, 4, 0.6F);
            canvas_.arrow(from[0], from[1], to[0], to[1], ink, 1.6F);
        }
    }

    // Several comparators may be in the same row or column of texels. Each is drawn with an offset of its own.
    void aside(const Grid& grid, Place low, Place high, std::array<float, 2>& from, std::array<float, 2>& to) const {
        const auto width = static_cast<Place>(stages_.width);
        const bool row = low / width == high / width, column = low % width == high % width;
        const auto nearer = std::min(low, high);
        const float lane = row ? (static_cast<float>(nearer % width) + 0.5F) / static_cast<float>(width)
                               : (static_cast<float>(nearer / width) + 0.5F) / static_cast<float>(stages_.height);
        const float moved = (lane - 0.5F) * 0.7F * grid.scale;
        if (row) from[1] += moved, to[1] += moved;
        if (column) from[0] += moved, to[0] += moved;
    }

    void channels() {
        for (int channel = 0; channel < 4; ++channel) {
            Box box = channel_box(at_.channels, stages_, channel, at_.gap, at_.gap / 2);
            heading(box, fmt::format("{} channel", channel_names.at(static_cast<std::size_t>(channel))));
            draw_texels(canvas_, box, stages_, step_, channel);
        }
    }

    void elements() {
        Box box = at_.elements;
        heading(box, stages_.arrays == 1
                         ? "keys by index"
                         : "keys by index, the four arrays (red, green, blue, alpha) one after the other");
        draw_elements(canvas_, box, stages_, step_);
    }

    // A line of the panel at the side.
    void row(Box& box, const std::string& words, const std::string& value, const Font& font) {
        fact(canvas_, box, words, value, font, at_.large ? 3 : 1);
    }

    void side() {
        canvas_.fill(at_.side, shade);
        Box box = at_.side.inset(at_.gap / 2 + 2);
        const auto& request = stages_.request;
        row(box, "keys", with_commas(request.n), at_.body);
        row(box, "texture", size_words(stages_), at_.body);
        row(box, "texels", stages_.format, at_.body);
        box.take_top(at_.gap / 2);
        row(box, "passes", fmt::format("{} of {}", with_commas(step_.passes), with_commas(stages_.passes)), at_.body);
        if (stages_.steps.back().comparisons > 0) row(box, "comparisons", with_commas(step_.comparisons), at_.body);
        row(box, "out of order", with_commas(step_.out_of_order), at_.body);
        box.take_top(at_.gap / 2);
        formula(box);
        if (view_.times == Times::Shown) times(box);
        disorder(box);
    }

    void formula(Box& box) {
        static constexpr std::array words{"k · k", "k (k − 1) / 2", "k (k + 1) / 2 − 1", "1 + log2(n / 64)"};
        const auto recorded = stages_.steps.size() - 1;
        row(box, "steps by formula", "", at_.body);
        row(box, fmt::format("  {}", words.at(static_cast<std::size_t>(stages_.request.engine))),
            with_commas(stages_.expected_steps), at_.body);
        row(box, "steps made", with_commas(recorded), at_.body);
        if (stages_.stages_run < stages_.stages)
            row(box, "early stop", fmt::format("after stage {}", stages_.stages_run), at_.body);
        box.take_top(at_.gap / 2);
    }

    // The time of each kind of pass so far.
    void times(Box& box) {
        std::map<std::string, double> sums;
        double all = 0;
        for (std::size_t i = 0; i <= view_.step; ++i) {
            for (const auto& [name, ms] : stages_.steps[i].ms) {
                sums[name] += ms;
                all += ms;
            }
        }
        row(box, "GPU so far", fmt::format("{:.2f} ms", all), at_.body);
        for (const auto& [name, ms] : sums) {
            canvas_.fill({box.x, box.y, static_cast<int>(ms / all * box.width), at_.small.line()}, accent, 0.18F);
            row(box, name, fmt::format("{:.2f}", ms), at_.small);
        }
        box.take_top(at_.gap / 2);
    }

    // The number of keys out of order, over all steps.
    void disorder(Box& box) {
        if (box.height < 3 * at_.small.line()) return;
        heading(box, "out of order, by step");
        box.height = std::min(box.height, box.width * 2 / 3);
        canvas_.fill(box, white);
        std::uint64_t max = 1;
        for (const auto& step : stages_.steps) max = std::max(max, step.out_of_order);
        const auto count = stages_.steps.size();
        const auto x_of = [&](std::size_t i) {
            return static_cast<float>(box.x) +
                   (static_cast<float>(i) + 0.5F) / static_cast<float>(count) * static_cast<float>(box.width);
        };
        const auto y_of = [&](std::size_t i) {
            const auto part = static_cast<float>(stages_.steps[i].out_of_order) / static_cast<float>(max);
            return static_cast<float>(box.bottom()) - 2 - part * static_cast<float>(box.height - 6);
        };
        for (std::size_t i = 1; i < count; ++i)
            canvas_.line(x_of(i - 1), y_of(i - 1), x_of(i), y_of(i), i <= view_.step ? alarm : rule, 2);
        const float x = x_of(view_.step), y = y_of(view_.step);
        canvas_.line(x, y, x, y, ink, 7);
    }

    void line() {
        Box box = at_.line;
        Box names = box.take_top(at_.small.line() + 1);
        int last = -1, end = 0;
        for (std::size_t i = 0; i < stages_.steps.size(); ++i) {
            const auto cell = cell_of(i, box);
            const auto& step = stages_.steps[i];
            const bool even = step.stage % 2 == 0;
            const auto done = i == 0 ? faint : even ? accent : mix(accent, white, 0.3F);
            canvas_.fill(cell, i <= view_.step ? done : even ? rule : mix(rule, white, 0.5F));
            if (cell.width > 3) canvas_.fill({cell.right() - 1, cell.y, 1, cell.height}, white);
            if (step.stage != last && i > 0) {
                const auto name = std::to_string(step.stage);
                if (cell.x >= end) canvas_.text(cell.x, names.y, name, at_.small, faint);
                if (cell.x >= end) end = cell.x + at_.small.width(name) + 5;
            }
            last = step.stage;
        }
        const auto now = cell_of(view_.step, box);
        canvas_.frame({now.x - 2, now.y - 2, std::max(now.width, 3) + 3, now.height + 4}, ink, 2);
        canvas_.label({names.x, box.bottom() - at_.small.line(), names.width, at_.small.line()},
                      "stages, and their steps; drag to go to any of them", at_.small, faint);
    }

    [[nodiscard]] Box cell_of(std::size_t i, const Box& box) const {
        const auto count = stages_.steps.size(), width = static_cast<std::size_t>(box.width);
        const auto from = static_cast<int>(i * width / count), to = static_cast<int>((i + 1) * width / count);
        return {box.x + from, box.y, std::max(to - from, 1), box.height - at_.small.line() - 4};
    }

    void legend() {
        Box box = at_.legend;
        const int gap = at_.large ? 22 : 10;
        box.take_left(draw_scale(canvas_, box, at_.small) + gap);
        const bool merge = stages_.request.engine == Watched::Merge;
        swatch(canvas_, box, min_color, merge ? "even blocks" : "keeps the smaller (MIN)", at_.small, gap);
        swatch(canvas_, box, max_color, merge ? "odd blocks" : "keeps the larger (MAX)", at_.small, gap);
        swatch(canvas_, box, padding_color, "padding", at_.small, gap);
    }

    const Stages& stages_;
    const View& view_;
    const Step& step_;
    StageLayout at_;
    Canvas canvas_;
};

}  // namespace

bool is_wide(const Stages& stages) {
    return stages.width > 2 * stages.height;
}

Box channel_box(const Box& all, const Stages& stages, int channel, int gap_across, int gap_down) {
    const int across = is_wide(stages) ? 1 : 2, down = 4 / across;
    const int width = (all.width - (across - 1) * gap_across) / across;
    const int height = (all.height - (down - 1) * gap_down) / down;
    const int column = channel % across, row = channel / across;
    return {all.x + column * (width + gap_across), all.y + row * (height + gap_down), width, height};
}

void draw_texels(Canvas& canvas, const Box& box, const Stages& stages, const Step& step, int channel) {
    const auto grid = paint_texels(canvas, box, stages, channel,
                                   [&](Place position) { return color_of(stages, step.keys[position]); });
    grid.frame(canvas, rule);
}

void draw_elements(Canvas& canvas, const Box& box, const Stages& stages, const Step& step) {
    canvas.fill(box, shade);
    const auto count = stages.order.size(), width = static_cast<std::size_t>(box.width);
    for (std::size_t i = 0; i < count; ++i) {
        const auto key = step.keys[stages.order[i]];
        const float rank = std::min(stages.rank(key), 1.0F);
        const auto x = static_cast<int>(i * width / count), next = static_cast<int>((i + 1) * width / count);
        const auto high = static_cast<int>(rank * static_cast<float>(box.height - 3)) + 2;
        const bool bars = next - x >= 2;
        const int top = box.bottom() - high;
        canvas.fill({box.x + x, top, std::max(next - x - (next - x > 3 ? 1 : 0), 1), bars ? high : 2},
                    color_of(stages, key));
    }
    for (std::size_t a = 1; a < stages.arrays; ++a)
        canvas.fill({box.x + static_cast<int>(a * width / stages.arrays), box.y, 1, box.height}, faint);
}

Canvas draw_step(const Stages& stages, const View& view, Size size) {
    return StageDrawing(stages, view, size).draw();
}

Box time_line(Size size) {
    return StageLayout(size).line;
}

std::size_t step_at(const Stages& stages, Size size, int x) {
    const auto line = time_line(size);
    const auto inside = static_cast<std::size_t>(std::clamp(x - line.x, 0, line.width - 1));
    return inside * stages.steps.size() / static_cast<std::size_t>(line.width);
}

}  // namespace quadmill::detail::show
