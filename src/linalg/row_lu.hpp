// LU as in 'Query Processing on GPUs': a pass over the trailing matrix eliminates one row, alternating between two
// textures.
#pragma once

#include <optional>

#include "linalg/pivot_search.hpp"
#include "pass/target.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::detail::linalg {

// A finished factorization. `pointers`: row 0 has the matrix row of each row of the factors, row 1 the matrix column of
// each column.
struct Factorized {
    pass::Target lu;
    gl::Texture pointers;
};

class RowLu {
  public:
    RowLu(gl::Device& device, pass::Programs& programs, Pivot pivot, Swap swap, int rows, int columns);
    // The target of the matrix.
    [[nodiscard]] const gl::Texture& source() const { return textures_[0].texture; }
    // Call it once.
    [[nodiscard]] Factorized operator()();

  private:
    [[nodiscard]] const pass::Target& now(int step) const { return textures_[step & 1]; }
    [[nodiscard]] bool by_pointers() const { return pivot_ != Pivot::Diagonal && swap_ == Swap::Pointer; }
    [[nodiscard]] const gl::Program& eliminator();
    [[nodiscard]] const gl::Texture& find_pivot(int step);
    void swap_pointers(int step, const gl::Texture& pivot);
    enum class Lines { Rows, Columns };
    void copy_lines(int step, const gl::Texture& pivot, Lines lines);
    void eliminate(int step);
    [[nodiscard]] pass::Target gather();

    gl::Device& device_;
    pass::Programs& programs_;
    Pivot pivot_;
    Swap swap_;
    int rows_, columns_;
    pass::Target textures_[2];
    pass::PingPong pointers_;
    PivotSearch search_;
    const gl::Program& eliminate_;
    gl::QuadList trailing_, row_quads_;
    struct Copies {
        pass::Target taken;  // two lines
        gl::QuadList put;
    };
    std::optional<Copies> row_copies_, column_copies_;
};

}  // namespace quadmill::detail::linalg
