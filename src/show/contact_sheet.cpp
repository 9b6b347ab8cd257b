#include "show/contact_sheet.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "show/parts.hpp"
#include "show/stage_view.hpp"

namespace quadmill::detail::show {

namespace {

constexpr Sheet stage_tiles{5};
constexpr int strip = 44;

// Height of the heat maps: the texture's height at this width.
int maps_height(const Stages& stages) {
    const bool wide = is_wide(stages);
    const int each = wide ? stage_tiles.tile_width() : (stage_tiles.tile_width() - Sheet::inner_gap) / 2;
    const int scale = std::max(each / stages.width, 1);
    const int high = std::min(scale * stages.height, 2 * each);
    return (wide ? 4 : 2) * (high + Sheet::inner_gap);
}

void draw_tile(Canvas& canvas, Box box, const Stages& stages, std::size_t index) {
    const Font bold(12, Weight::Bold), small(11);
    const auto& step = stages.steps[index];
    canvas.label(box.take_top(bold.line() + 1), title_of(stages, index), bold);
    canvas.label(box.take_top(small.line() + 3), order_words(step), small, faint);
    Box maps = box.take_top(maps_height(stages));
    maps.height -= Sheet::inner_gap;
    for (int channel = 0; channel < 4; ++channel)
        draw_texels(canvas, channel_box(maps, stages, channel, Sheet::inner_gap, Sheet::inner_gap), stages, step,
                    channel);
    draw_elements(canvas, box.take_top(strip), stages, step);
}

std::string summary(const Stages& stages) {
    const auto runs = stages.arrays > 1 ? fmt::format("{} arrays at the same time, one in each channel", stages.arrays)
                                        : std::string("one array over all channels");
    // A single array's steps within a texel are one draw.
    const auto k = static_cast<std::size_t>(stages.stages);
    const bool single = stages.request.engine == Watched::BitonicSingle;
    const auto steps = single ? k * (k + 1) / 2 : stages.steps.size() - 1;
    return fmt::format(
        "{} keys in a texture of {} {} texels: {}. {} steps in {} passes. Each tile shows the red, "
        "green, blue and alpha channels as they lie in the texture, first texel at the lower left, and below them all "
        "keys by index.",
        with_commas(stages.request.n), size_words(stages), stages.format, runs, with_commas(steps),
        with_commas(stages.passes));
}

}  // namespace

std::vector<std::size_t> highlights(const Stages& stages) {
    const auto whole = stages.request.engine == Watched::Pbsn ? 1 : stages.stages;  // shown step by step
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < stages.steps.size(); ++i) {
        const bool ends = i + 1 == stages.steps.size() || stages.steps[i + 1].stage != stages.steps[i].stage;
        if (i == 0 || ends || stages.steps[i].stage == whole) chosen.push_back(i);
    }
    return chosen;
}

Canvas contact_sheet(const Stages& stages) {
    const auto chosen = highlights(stages);
    const Font title(24, Weight::Bold), body(13), small(12);
    const int tile_height = 34 + maps_height(stages) + strip + Sheet::gap;
    const int rows = stage_tiles.rows(chosen.size());
    const int head = Sheet::margin + title.line() + 2 * body.line() + Sheet::gap;
    Canvas canvas(Sheet::page_width, head + rows * tile_height + small.line() + Sheet::margin);
    Box page{Sheet::margin, Sheet::margin, Sheet::page_width - 2 * Sheet::margin, canvas.height() - 2 * Sheet::margin};
    canvas.label(page.take_top(title.line()), fmt::format("A sort, stage by stage: {}", name_of(stages.request.engine)),
                 title);
    canvas.paragraph(page.take_top(2 * body.line()), summary(stages), body, faint);
    page.take_top(Sheet::gap);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        draw_tile(canvas, stage_tiles.tile(page, i, tile_height), stages, chosen[i]);
    }
    page.take_top(rows * tile_height);
    draw_scale(canvas, page.take_top(small.line()), small);
    return canvas;
}

}  // namespace quadmill::detail::show
