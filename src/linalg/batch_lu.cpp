#include "linalg/batch_lu.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "linalg_shaders.hpp"

namespace quadmill::detail::linalg {

namespace {

constexpr int columns_of_texel = 4;

int quarters_of(int n) {
    return (n + columns_of_texel - 1) / columns_of_texel;
}

}  // namespace

std::optional<BatchLu::Grid> BatchLu::grid_of(std::size_t systems, int n, int max_texels) {
    const auto max = static_cast<std::size_t>(max_texels);
    const auto across = (systems + max - 1) / max;
    const auto widest = n * std::max(n, quarters_of(n) + 1);
    if (across * static_cast<std::size_t>(widest) > max) return std::nullopt;
    return Grid{static_cast<int>(across), static_cast<int>((systems + across - 1) / across)};
}

BatchLu::BatchLu(gl::Device& device, pass::Programs& programs, int n, const Grid& grid)
    : device_(device),
      programs_(programs),
      n_(n),
      grid_(grid),
      prelude_("#define N " + std::to_string(n) + "\n#define PLACE " + std::to_string(quarters_of(n)) +
               "\n#define STRIDE " + std::to_string(quarters_of(n) + 1) + "\n"),
      source_(device, gl::Format::R32f, grid.across * n * n, grid.down),
      systems_(device, gl::Format::Rgba32f, grid.across * n * texels_of_row(), grid.down),
      pivots_(device, gl::Format::Rgba32f, grid.across, grid.down, 1 + columns_of_texel),
      info_(device, gl::Format::R32ui, grid.across, grid.down) {
    std::vector<gl::Quad> left;
    const int stride = texels_of_row();
    for (int first = 0; first < n; first += columns_of_texel) {
        for (int i = 0; i < grid.across; ++i)
            left.push_back(gl::rectangle((i * n + first) * stride, 0, (i + 1) * n * stride, grid.down));
    }
    left_ = {device, std::move(left)};
}

int BatchLu::texels_of_row() const {
    return quarters_of(n_) + 1;
}

int BatchLu::finished_in(int row) const {
    return (quarters_of(n_) - 1 - row / columns_of_texel) % 2;
}

// GLSL for programs that read L and U.
std::string BatchLu::finished() const {
    return prelude_ + "#define FINISHED\n" + shaders::linalg_numbers_glsl + shaders::linalg_batch_texels_glsl;
}

void BatchLu::eliminate(int first) {
    const std::string texels =
        prelude_ + shaders::linalg_numbers_glsl + shaders::linalg_batch_texels_glsl + shaders::linalg_pivoting_glsl;
    const gl::Uniforms position{
        {"first", first}, {"quarter", first / columns_of_texel}, {"known", std::min(columns_of_texel, n_ - first)}};
    fill(device_, "find pivots", programs_.get("linalg/batch_pivots.frag", shaders::linalg_batch_pivots_frag, texels),
         pivots_, {&systems_.now.texture}, position);
    const auto across = static_cast<std::size_t>(grid_.across);
    draw(device_,
         {.name = "eliminate in batch",
          .step = first + 1,
          .program = &programs_.get("linalg/batch_eliminate.frag", shaders::linalg_batch_eliminate_frag, texels),
          .inputs = {&systems_.now.texture, &pivots_.texture},
          .uniforms = position,
          .target = &systems_.next.framebuffer,
          .quads = &left_,
          .first = static_cast<std::size_t>(first / columns_of_texel) * across,
          .count = across});
    systems_.swap();
}

const gl::Texture& BatchLu::factorize() {
    fill(device_, "load batch", programs_.get("linalg/batch_load.frag", shaders::linalg_batch_load_frag, prelude_),
         systems_.now, {&source_.texture});
    for (int first = 0; first < n_; first += columns_of_texel) eliminate(first);
    fill(device_, "info", programs_.get("linalg/batch_info.frag", shaders::linalg_batch_info_frag, finished()), info_,
         {&systems_.now.texture, &systems_.next.texture});
    return info_.texture;
}

pass::Target BatchLu::solve(const gl::Texture& sides, int columns) {
    const pass::Target solved(device_, gl::Format::Rgba32f, grid_.across * columns, grid_.down, quarters_of(n_));
    fill(device_, "solve batch", programs_.get("linalg/batch_solve.frag", shaders::linalg_batch_solve_frag, finished()),
         solved, {&systems_.now.texture, &systems_.next.texture, &sides}, {{"sides", columns}});
    pass::Target found(device_, gl::Format::R32f, sides.width(), sides.height());
    fill(device_, "store batch", programs_.get("linalg/batch_store.frag", shaders::linalg_batch_store_frag, prelude_),
         found, {&solved.texture}, {{"sides", columns}});
    return found;
}

}  // namespace quadmill::detail::linalg
