#include "linalg/batch_lu.hpp"

#include <algorithm>

#include "pass/grid.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill::detail::linalg {

namespace {

constexpr int columns_of_texel = 4;

int quarters_of(int n) {
    return (n + columns_of_texel - 1) / columns_of_texel;
}

}  // namespace

std::optional<BatchLu::Grid> BatchLu::grid_of(std::size_t systems, int n, int most_texels) {
    const auto most = static_cast<std::size_t>(most_texels);
    const auto across = (systems + most - 1) / most;
    const auto widest = n * std::max(n, quarters_of(n) + 1);
    if (across * static_cast<std::size_t>(widest) > most) return std::nullopt;
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
      pivots_(device, gl::Format::Rgba32ui, grid.across, grid.down),
      info_(device, gl::Format::R32ui, grid.across, grid.down) {}

void BatchLu::eliminate(int first) {
    const std::string texels =
        prelude_ + shaders::linalg_numbers_glsl + shaders::linalg_batch_texels_glsl + shaders::linalg_pivoting_glsl;
    const gl::Uniforms place{
        {"first", first}, {"quarter", first / columns_of_texel}, {"known", std::min(columns_of_texel, n_ - first)}};
    fill(device_, "find pivots", programs_.get("linalg/batch_pivots.frag", shaders::linalg_batch_pivots_frag, texels),
         pivots_, {&systems_.now.texture}, place);
    pass::advance(device_, "eliminate in batch",
                  programs_.get("linalg/batch_eliminate.frag", shaders::linalg_batch_eliminate_frag, texels), systems_,
                  {&pivots_.texture}, place);
}

const gl::Texture& BatchLu::factorize() {
    fill(device_, "load batch", programs_.get("linalg/batch_load.frag", shaders::linalg_batch_load_frag, prelude_),
         systems_.now, {&source_.texture});
    for (int first = 0; first < n_; first += columns_of_texel) eliminate(first);
    fill(device_, "info",
         programs_.get("linalg/batch_info.frag", shaders::linalg_batch_info_frag,
                       prelude_ + shaders::linalg_numbers_glsl + shaders::linalg_batch_texels_glsl),
         info_, {&systems_.now.texture});
    return info_.texture;
}

pass::Target BatchLu::solve(const gl::Texture& sides, int columns) {
    const pass::Target solved(device_, gl::Format::Rgba32f, grid_.across * columns, grid_.down, quarters_of(n_));
    fill(device_, "solve batch",
         programs_.get("linalg/batch_solve.frag", shaders::linalg_batch_solve_frag,
                       prelude_ + shaders::linalg_numbers_glsl + shaders::linalg_batch_texels_glsl),
         solved, {&systems_.now.texture, &sides}, {{"sides", columns}});
    pass::Target found(device_, gl::Format::R32f, sides.width(), sides.height());
    fill(device_, "store batch", programs_.get("linalg/batch_store.frag", shaders::linalg_batch_store_frag, prelude_),
         found, {&solved.texture}, {{"sides", columns}});
    return found;
}

}  // namespace quadmill::detail::linalg
