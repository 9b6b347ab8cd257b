#include "linalg/pivot_search.hpp"

#include <string>

#include "linalg_shaders.hpp"

namespace quadmill::detail::linalg {

namespace {

// Number of parts such that each has about 16 lines and a fold of all parts wastes no pass.
int parts_of_column(int lines) {
    return lines <= 16 ? 1 : lines <= 256 ? 16 : 256;
}
int parts_of_side(int lines) {
    int parts = 1;
    while (parts < 256 && parts * 16 < lines) parts *= 4;
    return parts;
}

const gl::Program& program(pass::Programs& programs, const pass::FoldRule& rule, PivotSearch::In in) {
    const char* where = in == PivotSearch::In::MatrixByPointers ? "#define POINTERS\n" : "";
    return programs.get("linalg/search.frag", shaders::linalg_search_frag,
                        where + rule.glsl + shaders::linalg_numbers_glsl);
}

}  // namespace

PivotSearch::PivotSearch(gl::Device& device, pass::Programs& programs, In in)
    : device_(device), programs_(programs), rule_(pass::FoldBy::FirstMax), search_(program(programs, rule_, in)) {}

const pass::Fold& PivotSearch::fold(int width, int height) {
    return folds_.try_emplace({width, height}, device_, gl::Format::Rgba32ui, width, height).first->second;
}

const gl::Texture& PivotSearch::operator()(const gl::Texture& matrix, const gl::Texture* pointers, const Range& range) {
    const int rows = range.end_row - range.first, columns = range.end_column - range.first;
    const bool one_column = columns == 1;
    const int width = one_column ? 1 : parts_of_side(columns);
    const int height = one_column ? parts_of_column(rows) : parts_of_side(rows);
    const auto& folding = fold(width, height);
    gl::Pass pass{.name = "search",
                  .program = &search_,
                  .inputs = {&matrix, pointers},
                  .uniforms = {{"first", range.first},
                               {"ends", glm::ivec2(range.end_column, range.end_row)},
                               {"share", glm::ivec2(width, height)}},
                  .target = &folding.source().framebuffer,
                  .quads = &folding.source().whole};
    draw(device_, pass);
    return folding(device_, programs_, rule_);
}

}  // namespace quadmill::detail::linalg
