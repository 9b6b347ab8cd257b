// Many small matrices factorized together: each is a row of texels, so that all of them take as many passes, of four
// columns each, as one matrix. One fragment finds the pivots of a matrix and eliminates the elements that it reads, as
// the searches of a panel do (blocked_lu.hpp).
//
//     texel row   | row 0: columns, four a texel, and which row it was | row 1 ... | ...   one matrix, or more beside it
#pragma once

#include <optional>
#include <string>

#include "pass/programs.hpp"
#include "pass/target.hpp"

namespace quadmill::detail::linalg {

class BatchLu {
  public:
    // The layout of matrices: the number of matrices in a row of them, and the number of such rows.
    struct Grid {
        int across, down;
    };
    // The layout of that many matrices in textures of at most that size. Nothing if they do not fit.
    [[nodiscard]] static std::optional<Grid> grid_of(std::size_t systems, int n, int max_texels);

    BatchLu(gl::Device& device, pass::Programs& programs, int n, const Grid& grid);
    // The target of the matrices. The layout is that of memory: grid.down rows of grid.across matrices.
    [[nodiscard]] const gl::Texture& source() const { return source_.texture; }
    // Call it once. Returns info, one texel per matrix.
    [[nodiscard]] const gl::Texture& factorize();

    // The result of factorize(): rows of L and U, each followed by its original row number. Row i of a matrix is in
    // texture finished_in(i).
    [[nodiscard]] const gl::Texture& factors(int which) const {
        return which == 0 ? systems_.now.texture : systems_.next.texture;
    }
    [[nodiscard]] int finished_in(int row) const;
    [[nodiscard]] int texels_of_row() const;

    // Solves for `columns` right-hand sides in the rows of `sides`, which have the layout of memory. So has the result.
    [[nodiscard]] pass::Target solve(const gl::Texture& sides, int columns);

  private:
    void eliminate(int first);
    [[nodiscard]] std::string finished() const;

    gl::Device& device_;
    pass::Programs& programs_;
    int n_;
    Grid grid_;
    std::string prelude_;  // GLSL with the sizes
    pass::Target source_;
    pass::PingPong systems_;
    pass::Target pivots_, info_;
    gl::QuadList left_;  // for every four columns: from there on, the rows of each matrix in a row of them
};

}  // namespace quadmill::detail::linalg
