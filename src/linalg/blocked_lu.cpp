#include "linalg/blocked_lu.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "quadmill_shaders.hpp"

namespace quadmill::detail::linalg {

namespace {

constexpr int tile_rows = 8, tile_columns = 4;

int in_tiles(int size, int tile) {
    return (size + tile - 1) / tile;
}

}  // namespace

BlockedLu::BlockedLu(gl::Device& device, pass::Programs& programs, const Form& form, int rows, int columns)
    : device_(device),
      programs_(programs),
      form_(form),
      rows_(rows),
      columns_(columns),
      steps_(std::min(rows, columns)),
      padded_rows_(in_tiles(rows, tile_rows) * tile_rows),
      prelude_("#define BLOCK " + std::to_string(form.block) + "\n"),
      tiles_(prelude_ + (form.layout == Layout::Tiles ? "#define TILES\n" : "")),
      source_(device, gl::Format::R32f, columns, rows),
      panel_(device, gl::Format::Rgba32f, panel_width(), padded_rows_),
      triangle_(device, gl::Format::Rgba32f, in_tiles(columns, tile_columns) * tile_columns, 1, form.block / 4),
      panels_(device, gl::Format::Rgba32f, panel_width() * panels(), padded_rows_),
      lu_(device, gl::Format::R32f, columns, rows),
      places_(device, gl::Format::R32ui, 1, rows),
      search_(device, programs, PivotSearch::In::Panel) {
    const bool tiles = form.layout == Layout::Tiles;
    const int down = tiles ? padded_rows_ : rows;
    if (tiles) {
        trailing_ = {device, gl::Format::Rgba32f, in_tiles(columns, tile_columns), padded_rows_ / tile_rows, tile_rows};
    } else {
        trailing_.next = {device, gl::Format::R32f, columns, rows};
    }
    std::vector<gl::Quad> panel_quads, keeps, rights, row_quads, updates, column_quads;
    for (int i = 0; i < panels(); ++i) {
        const auto [number, first, end] = panel(i);
        const int right = std::max(columns, end + 1);  // a quad that is not drawn is not empty either
        panel_quads.push_back(gl::rectangle(0, first, panel_width(), down));
        keeps.push_back({gl::corners(number * panel_width(), first, (number + 1) * panel_width(), down),
                         gl::corners(0, first, panel_width(), down)});
        rights.push_back(gl::rectangle(end, 0, right, 1));
        row_quads.push_back(gl::rectangle(end, first, right, end));
        updates.push_back(tiles ? gl::rectangle(end / tile_columns, end / tile_rows, in_tiles(columns, tile_columns),
                                                padded_rows_ / tile_rows)
                                : gl::rectangle(end, end, columns, rows));
        column_quads.push_back(gl::rectangle(first, first, end, rows));
    }
    panel_quads_ = {device, std::move(panel_quads)};
    keep_quads_ = {device, std::move(keeps)};
    right_quads_ = {device, std::move(rights)};
    row_quads_ = {device, std::move(row_quads)};
    update_quads_ = {device, std::move(updates)};
    column_quads_ = {device, std::move(column_quads)};
}

BlockedLu::Panel BlockedLu::panel(int number) const {
    return {number, number * form_.block, std::min((number + 1) * form_.block, steps_)};
}

void BlockedLu::draw_quad(gl::Pass pass, const gl::QuadList& quads, const Panel& panel) {
    pass.stage = panel.number + 1;
    pass.quads = &quads;
    pass.first = static_cast<std::size_t>(panel.number);
    pass.count = 1;
    draw(device_, pass);
}

void BlockedLu::make_tiles() {
    if (form_.layout == Layout::Scalars) return std::swap(trailing_.now, source_);
    fill(device_, "tile", programs_.get("linalg/tile.frag", shaders::linalg_tile_frag), trailing_.now,
         {&source_.texture}, {{"size", glm::ivec2(columns_, rows_)}});
}

void BlockedLu::load(const Panel& panel) {
    draw_quad({.name = "load panel",
               .program = &programs_.get("linalg/panel_load.frag", shaders::linalg_panel_load_frag,
                                         tiles_ + shaders::linalg_layout_glsl),
               .inputs = {&trailing_.now.texture},
               .uniforms = {{"first", panel.first}, {"end", panel.end}},
               .target = &panel_.now.framebuffer},
              panel_quads_, panel);
}

void BlockedLu::factor(const Panel& panel) {
    const bool searched = form_.pivot == Pivot::Partial;
    const auto& program =
        programs_.get("linalg/panel_step.frag", shaders::linalg_panel_step_frag,
                      prelude_ + (searched ? "#define SEARCHED\n" : "") + shaders::linalg_numbers_glsl);
    for (int k = panel.first; k < panel.end; ++k) {
        const int column = k - panel.first;
        const auto* pivot = searched ? &search_(panel_.now.texture, nullptr, {k, rows_, columns_, column}) : nullptr;
        draw_quad({.name = "eliminate in panel",
                   .step = k + 1,
                   .program = &program,
                   .inputs = {&panel_.now.texture, pivot},
                   .uniforms = {{"k", k}, {"column", column}},
                   .target = &panel_.next.framebuffer},
                  panel_quads_, panel);
        panel_.swap();
    }
}

void BlockedLu::keep(const Panel& panel) {
    draw_quad({.name = "keep panel",
               .program = &programs_.get("pass/fetch.frag", shaders::pass_fetch_frag),
               .inputs = {&panel_.now.texture},
               .target = &panels_.framebuffer},
              keep_quads_, panel);
}

void BlockedLu::solve_rows(const Panel& panel) {
    const std::string panel_factors =
        tiles_ + "#define PANEL\n" + shaders::linalg_layout_glsl + shaders::linalg_factors_glsl;
    draw_quad({.name = "solve rows",
               .program = &programs_.get("linalg/triangle.frag", shaders::linalg_triangle_frag, panel_factors),
               .inputs = {&trailing_.now.texture, &panel_.now.texture},
               .uniforms = {{"first", panel.first}, {"end", panel.end}},
               .target = &triangle_.framebuffer},
              right_quads_, panel);
    draw_quad({.name = "store rows",
               .program = &programs_.get("linalg/triangle_rows.frag", shaders::linalg_triangle_rows_frag),
               .inputs = {&triangle_.texture},
               .uniforms = {{"first", panel.first}},
               .target = &lu_.framebuffer},
              row_quads_, panel);
}

void BlockedLu::update(const Panel& panel) {
    const std::string panel_factors =
        tiles_ + "#define PANEL\n" + shaders::linalg_layout_glsl + shaders::linalg_factors_glsl;
    draw_quad({.name = "update",
               .program = &programs_.get("linalg/update.frag", shaders::linalg_update_frag, panel_factors),
               .inputs = {&trailing_.now.texture, &panel_.now.texture, &triangle_.texture},
               .target = &trailing_.next.framebuffer},
              update_quads_, panel);
    trailing_.swap();
}

// Later panels moved rows of earlier ones, so the last comes first: `places_` says where the final rows lay after a
// panel.
void BlockedLu::gather() {
    fill(device_, "places", programs_.get("linalg/places.frag", shaders::linalg_places_frag), places_.now, {});
    const auto& columns = programs_.get("linalg/panel_gather.frag", shaders::linalg_panel_gather_frag);
    const auto& places = programs_.get("linalg/panel_places.frag", shaders::linalg_panel_places_frag);
    for (int i = panels() - 1; i >= 0; --i) {
        const auto which = panel(i);
        const int texel = i * panel_width();
        draw_quad({.name = "gather panel",
                   .program = &columns,
                   .inputs = {&panels_.texture, &places_.now.texture},
                   .uniforms = {{"first", which.first}, {"panel", texel}},
                   .target = &lu_.framebuffer},
                  column_quads_, which);
        if (form_.pivot == Pivot::Diagonal) continue;
        fill(device_, "places before", places, places_.next, {&panels_.texture, &places_.now.texture},
             {{"first", which.first}, {"panel", texel + form_.block / 4}});
        places_.swap();
    }
}

Factorized BlockedLu::operator()() {
    make_tiles();
    for (int i = 0; i < panels(); ++i) {
        const auto which = panel(i);
        load(which);
        factor(which);
        keep(which);
        if (which.end < columns_) solve_rows(which);
        if (which.end < columns_ && which.end < rows_) update(which);
    }
    gather();
    pass::Target pointers(device_, gl::Format::R32ui, std::max(rows_, columns_), 2);
    fill(device_, "pointers", programs_.get("linalg/rows_to_pointers.frag", shaders::linalg_rows_to_pointers_frag),
         pointers, {&places_.now.texture}, {{"rows", rows_}});
    return {std::move(lu_), std::move(pointers.texture)};
}

}  // namespace quadmill::detail::linalg
