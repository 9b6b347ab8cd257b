#include "linalg/substitution.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "linalg_shaders.hpp"

namespace quadmill::detail::linalg {

Substitution::Substitution(gl::Device& device, pass::Programs& programs, const gl::Texture& lu, int columns)
    : device_(device),
      programs_(programs),
      lu_(lu),
      size_(lu.width()),
      columns_(columns),
      sides_(device, gl::Format::R32f, columns, size_),
      solved_(device, gl::Format::R32f, columns, size_),
      rows_(device, gl::Format::Rgba32f, columns, 1, block / 4) {
    std::vector<gl::Quad> rows, below, above;
    for (int first = 0; first < size_; first += block) {
        const int end = std::min(first + block, size_);
        rows.push_back(gl::rectangle(0, first, columns, end));
        below.push_back(gl::rectangle(0, end, columns, std::max(size_, end + 1)));
        above.push_back(gl::rectangle(0, 0, columns, std::max(first, 1)));
    }
    row_quads_ = {device, std::move(rows)};
    below_ = {device, std::move(below)};
    above_ = {device, std::move(above)};
}

void Substitution::solve(Triangle triangle) {
    const bool upper = triangle == Triangle::Upper;
    const std::string access = "#define BLOCK " + std::to_string(block) + "\n" + (upper ? "#define UPPER\n" : "") +
                               shaders::linalg_layout_glsl + shaders::linalg_factors_glsl +
                               shaders::linalg_numbers_glsl;
    const auto& solve_block = programs_.get("linalg/triangle.frag", shaders::linalg_triangle_frag, access);
    const auto& update = programs_.get("linalg/update.frag", shaders::linalg_update_frag, access);
    const auto& store = programs_.get("linalg/triangle_rows.frag", shaders::linalg_triangle_rows_frag);
    const int blocks = (size_ + block - 1) / block;
    for (int i = 0; i < blocks; ++i) {
        const int which = upper ? blocks - 1 - i : i, first = which * block;
        const auto at = static_cast<std::size_t>(which);
        const gl::Uniforms position{{"first", first}, {"size", size_}};
        fill(device_, "solve block", solve_block, rows_, {&sides_.now.texture, &lu_},
             gl::Uniforms(position).set("end", std::min(first + block, size_)));
        gl::Pass pass{.name = "store block",
                      .program = &store,
                      .inputs = {&rows_.texture},
                      .uniforms = {{"first", first}},
                      .target = &solved_.framebuffer,
                      .quads = &row_quads_,
                      .first = at,
                      .count = 1};
        draw(device_, pass);
        if (i + 1 == blocks) break;
        pass.name = "subtract block";
        pass.program = &update;
        pass.inputs = {&sides_.now.texture, &lu_, &rows_.texture};
        pass.uniforms = position;
        pass.target = &sides_.next.framebuffer;
        pass.quads = upper ? &above_ : &below_;
        draw(device_, pass);
        sides_.swap();
    }
}

const gl::Texture& Substitution::operator()() {
    solve(Triangle::Lower);
    std::swap(sides_.now, solved_);
    solve(Triangle::Upper);
    return solved_.texture;
}

}  // namespace quadmill::detail::linalg
