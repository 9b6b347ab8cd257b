#include "linalg/blocked_lu.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "linalg_shaders.hpp"
#include "pass_shaders.hpp"

namespace quadmill::detail::linalg {

namespace {

constexpr int tile_rows = 8, tile_columns = 4;
constexpr int at_once = 4;  // columns of a panel that are eliminated together: those of a texel

// Number of parts of a search over that many rows. A fragment of the first pass searches rows / parts rows. The second
// pass looks at all parts, or at 64 parts at a time if there are more. The cost of both is latency.
constexpr int max_parts = 256;
int parts_of(int rows) {
    return rows <= 256 ? 16 : rows <= 1024 ? 64 : rows <= 2048 ? 128 : max_parts;
}

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
      positions_(device, gl::Format::R32ui, 1, rows),
      eliminate_(pivoting_program("linalg/panel_eliminate.frag", shaders::linalg_panel_eliminate_frag)) {
    if (form.pivot == Pivot::Partial) {
        searches_ = {device, gl::Format::Rgba32ui, max_parts + 1, 1};
        search_ = &pivoting_program("linalg/panel_search.frag", shaders::linalg_panel_search_frag);
    }
    const bool tiles = form.layout == Layout::Tiles;
    const int down = tiles ? padded_rows_ : rows;
    if (tiles) {
        trailing_ = {device, gl::Format::Rgba32f, in_tiles(columns, tile_columns), padded_rows_ / tile_rows, tile_rows};
    } else {
        trailing_.next = {device, gl::Format::R32f, columns, rows};
    }
    std::vector<gl::Quad> panel_quads, searches, keeps, rights, row_quads, updates, column_quads;
    for (int i = 0; i < panels(); ++i) {
        const auto [number, first, end] = panel(i);
        const int right = std::max(columns, end + 1);  // a list of quads may not be empty, even if it is not drawn
        panel_quads.push_back(gl::rectangle(0, first, panel_width(), down));
        searches.push_back(gl::rectangle(0, 0, parts_of(rows - first) + 1, 1));
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
    search_quads_ = {device, std::move(searches)};
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

const gl::Program& BlockedLu::pivoting_program(const char* name, const char* fragment) const {
    const bool searched = form_.pivot == Pivot::Partial;
    const std::string all = prelude_ + "#define PLACE (BLOCK / 4)\n" + (searched ? "#define SEARCHED\n" : "") +
                            shaders::linalg_numbers_glsl;
    const std::string after = shaders::linalg_pivoting_glsl + pass::FoldRule(pass::FoldBy::FirstMax).glsl;
    const std::string vertex =
        all + "#define IN_VERTEX\n" + shaders::linalg_panel_texels_glsl + after + shaders::linalg_panel_pivots_vert;
    return programs_.get(name, {vertex.c_str(), fragment}, all + shaders::linalg_panel_texels_glsl + after);
}

gl::Pass BlockedLu::pivoting_pass(std::string_view name, const Panel& panel, const Quarter& quarter, int known) const {
    gl::Pass pass{
        .name = name,
        .step = quarter.first + known + 1,
        .inputs = {&panel_.now.texture},
        .uniforms = {{"first", quarter.first}, {"quarter", (quarter.first - panel.first) / at_once}, {"known", known}}};
    if (form_.pivot == Pivot::Partial) {
        pass.inputs[1] = &searches_.now.texture;
        pass.uniforms.set("parts", parts_of(rows_ - panel.first));
    }
    return pass;
}

void BlockedLu::search(const Panel& panel, const Quarter& quarter, int known) {
    auto pass = pivoting_pass("search", panel, quarter, known);
    pass.program = search_;
    pass.uniforms.set("end", rows_);
    pass.target = &searches_.next.framebuffer;
    draw_quad(std::move(pass), search_quads_, panel);
    searches_.swap();
}

void BlockedLu::eliminate(const Panel& panel, const Quarter& quarter) {
    auto pass = pivoting_pass("eliminate in panel", panel, quarter, quarter.columns);
    pass.program = &eliminate_;
    pass.target = &panel_.next.framebuffer;
    draw_quad(std::move(pass), panel_quads_, panel);
    panel_.swap();
}

void BlockedLu::factor(const Panel& panel) {
    for (int first = panel.first; first < panel.end; first += at_once) {
        const Quarter quarter{first, std::min(at_once, panel.end - first)};
        for (int known = 0; known < quarter.columns && form_.pivot == Pivot::Partial; ++known)
            search(panel, quarter, known);
        eliminate(panel, quarter);
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

// Later panels moved rows of earlier ones, so this goes from the last panel to the first. `places_` has the position of
// each final row after a panel.
void BlockedLu::gather() {
    fill(device_, "places", programs_.get("linalg/places.frag", shaders::linalg_places_frag), positions_.now, {});
    const auto& columns = programs_.get("linalg/panel_gather.frag", shaders::linalg_panel_gather_frag);
    const auto& positions = programs_.get("linalg/panel_places.frag", shaders::linalg_panel_places_frag);
    for (int i = panels() - 1; i >= 0; --i) {
        const auto which = panel(i);
        const int texel = i * panel_width();
        draw_quad({.name = "gather panel",
                   .program = &columns,
                   .inputs = {&panels_.texture, &positions_.now.texture},
                   .uniforms = {{"first", which.first}, {"panel", texel}},
                   .target = &lu_.framebuffer},
                  column_quads_, which);
        if (form_.pivot == Pivot::Diagonal) continue;
        fill(device_, "places before", positions, positions_.next, {&panels_.texture, &positions_.now.texture},
             {{"first", which.first}, {"panel", texel + form_.block / 4}});
        positions_.swap();
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
         pointers, {&positions_.now.texture}, {{"rows", rows_}});
    return {std::move(lu_), std::move(pointers.texture)};
}

}  // namespace quadmill::detail::linalg
