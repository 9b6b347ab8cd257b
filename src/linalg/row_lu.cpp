#include "linalg/row_lu.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "gl/pixels.hpp"
#include "linalg_shaders.hpp"
#include "pass/grid.hpp"
#include "pass_shaders.hpp"

namespace quadmill::detail::linalg {

namespace {

constexpr int pointer_rows = 3;

gl::QuadList trailing_quads(gl::Device& device, int rows, int columns) {
    std::vector<gl::Quad> quads;
    for (int k = 1; k < std::min(rows, columns); ++k) quads.push_back(gl::rectangle(k, k, columns, rows));
    if (quads.empty()) quads.push_back(gl::rectangle(0, 0, 1, 1));  // this quad is never drawn
    return {device, std::move(quads)};
}

gl::QuadList rows_of(gl::Device& device, int rows, int columns) {
    std::vector<gl::Quad> quads;
    for (int i = 0; i < rows; ++i) quads.push_back(gl::rectangle(0, i, columns, i + 1));
    return {device, std::move(quads)};
}

}  // namespace

RowLu::RowLu(gl::Device& device, pass::Programs& programs, Pivot pivot, Swap swap, int rows, int columns)
    : device_(device),
      programs_(programs),
      pivot_(pivot),
      swap_(swap),
      rows_(rows),
      columns_(columns),
      textures_{{device, gl::Format::R32f, columns, rows}, {device, gl::Format::R32f, columns, rows}},
      pointers_(device, gl::Format::R32ui, std::max(rows, columns), pointer_rows),
      search_(device, programs, by_pointers() ? PivotSearch::In::MatrixByPointers : PivotSearch::In::Matrix),
      eliminate_(eliminator()),
      trailing_(trailing_quads(device, rows, columns)),
      row_quads_(by_pointers() ? rows_of(device, rows, columns) : gl::QuadList()) {
    const auto copies = [&](int length) {
        return Copies{pass::Target(device, gl::Format::R32f, length, 2), rows_of(device, 2, length)};
    };
    if (pivot != Pivot::Diagonal && swap == Swap::Copy) row_copies_ = copies(columns);
    if (pivot == Pivot::Full && swap == Swap::Copy) column_copies_ = copies(rows);
}

const gl::Program& RowLu::eliminator() {
    const std::string prelude = std::string(by_pointers() ? "#define POINTERS\n" : "") +
                                (by_pointers() && pivot_ == Pivot::Full ? "#define FULL\n" : "") +
                                shaders::linalg_numbers_glsl;
    if (!by_pointers()) return programs_.get("linalg/eliminate.frag", shaders::linalg_eliminate_frag, prelude);
    return programs_.get("linalg/eliminate.frag", {shaders::linalg_pointer_rows_vert, shaders::linalg_eliminate_frag},
                         prelude);
}

const gl::Texture& RowLu::find_pivot(int step) {
    const int end_column = pivot_ == Pivot::Full ? columns_ : step + 1;
    return search_(now(step).texture, by_pointers() ? &pointers_.now.texture : nullptr, {step, rows_, end_column});
}

void RowLu::swap_pointers(int step, const gl::Texture& pivot) {
    pass::advance(device_, "swap pointers",
                  programs_.get("linalg/swap_pointers.frag", shaders::linalg_swap_pointers_frag), pointers_, {&pivot},
                  {{"k", step}});
}

// Swaps whole lines, including the parts of L and U, in both textures: finished elements may be in either one.
void RowLu::copy_lines(int step, const gl::Texture& pivot, Lines lines) {
    const char* prelude = lines == Lines::Columns ? "#define COLUMNS\n" : "";
    const auto& copies = lines == Lines::Columns ? *column_copies_ : *row_copies_;
    fill(device_, "take lines", programs_.get("linalg/take_lines.frag", shaders::linalg_take_lines_frag, prelude),
         copies.taken, {&textures_[0].texture, &textures_[1].texture, &pivot}, {{"k", step}});
    const auto& put =
        programs_.get("linalg/put_lines.vert", {shaders::linalg_put_lines_vert, shaders::pass_fetch_frag});
    for (const auto& texture : textures_) {
        draw(device_, {.name = "put lines",
                       .program = &put,
                       .inputs = {&copies.taken.texture, &pivot},
                       .uniforms = {{"k", step}, {"columns", lines == Lines::Columns ? 1 : 0}},
                       .target = &texture.framebuffer,
                       .quads = &copies.put});
    }
}

void RowLu::eliminate(int step) {
    const bool full_pointers = by_pointers() && pivot_ == Pivot::Full;
    gl::Pass pass{.name = "eliminate",
                  .stage = step + 1,
                  .program = &eliminate_,
                  .inputs = {&now(step).texture},
                  .uniforms = {{"k", step}},
                  .target = &now(step + 1).framebuffer,
                  .quads = &trailing_,
                  .first = static_cast<std::size_t>(step),
                  .count = 1};
    if (by_pointers()) {
        pass.inputs[1] = &pointers_.now.texture;
        // With full pivoting, finished columns can be anywhere. Fragments there end immediately.
        pass.uniforms.set("first_column", full_pointers ? 0 : step + 1);
        pass.quads = &row_quads_;
        pass.first = static_cast<std::size_t>(step) + 1;
        pass.count = gl::Pass::all;
    }
    draw(device_, pass);
}

pass::Target RowLu::gather() {
    const bool pointers = by_pointers();
    const auto& program =
        programs_.get("linalg/gather.frag", shaders::linalg_gather_frag,
                      (pointers ? "#define POINTERS\n" : "") + std::string(shaders::linalg_numbers_glsl));
    pass::Target lu(device_, gl::Format::R32f, columns_, rows_);
    fill(device_, "gather", program, lu,
         {&textures_[0].texture, &textures_[1].texture, pointers ? &pointers_.now.texture : nullptr});
    return lu;
}

// The GPU must finish these steps before more are queued: a driver may assume that a GPU hangs if it is busy for too
// long.
constexpr int steps_on_their_way = 256;

Factorized RowLu::operator()() {
    fill(device_, "pointers", programs_.get("linalg/pointers.frag", shaders::linalg_pointers_frag), pointers_.now, {});
    for (int step = 0; step < std::min(rows_, columns_); ++step) {
        if (pivot_ != Pivot::Diagonal) {
            const auto& pivot = find_pivot(step);
            if (row_copies_) copy_lines(step, pivot, Lines::Rows);
            if (column_copies_) copy_lines(step, pivot, Lines::Columns);
            swap_pointers(step, pivot);
        }
        if (step + 1 < rows_ && step + 1 < columns_) eliminate(step);
        if (step % steps_on_their_way == 0) gl::finish(device_);
    }
    auto lu = gather();
    return {std::move(lu), std::move(pointers_.now.texture)};
}

}  // namespace quadmill::detail::linalg
