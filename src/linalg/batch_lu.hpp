// Many small matrices factorized together: each is a row of texels, so that passes over all of them, four columns at
// once, are as many as one of them takes. The pivots of a matrix are found by one fragment, which eliminates for itself
// what it looks at, as the searches of a panel do (blocked_lu.hpp).
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
    // How matrices lie: so many a row of texels, and that many rows.
    struct Grid {
        int across, down;
    };
    // How so many matrices lie in textures of at most that size; nothing where they do not fit.
    [[nodiscard]] static std::optional<Grid> grid_of(std::size_t systems, int n, int most_texels);

    BatchLu(gl::Device& device, pass::Programs& programs, int n, const Grid& grid);
    // Where the caller puts the matrices, as they lie in memory: rows of grid.across of them.
    [[nodiscard]] const gl::Texture& source() const { return source_.texture; }
    // Once. Returns info, a texel a matrix.
    [[nodiscard]] const gl::Texture& factorize();

    // What factorize() left: rows of L and U, each followed by the number of the row that it was. Row i of a matrix is
    // in texture finished_in(i).
    [[nodiscard]] const gl::Texture& factors(int which) const {
        return which == 0 ? systems_.now.texture : systems_.next.texture;
    }
    [[nodiscard]] int finished_in(int row) const;
    [[nodiscard]] int texels_of_row() const;

    // Solves for `columns` right-hand sides, as they lie in memory, in the rows of `sides`; so does the result.
    [[nodiscard]] pass::Target solve(const gl::Texture& sides, int columns);

  private:
    void eliminate(int first);
    [[nodiscard]] std::string finished() const;

    gl::Device& device_;
    pass::Programs& programs_;
    int n_;
    Grid grid_;
    std::string prelude_;  // the sizes
    pass::Target source_;
    pass::PingPong systems_;
    pass::Target pivots_, info_;
    gl::QuadList left_;  // for each four columns: the rows from there on of each matrix in a row of texels
};

}  // namespace quadmill::detail::linalg
