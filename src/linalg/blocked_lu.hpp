// LU in panels: `block` columns are factorized in a narrow texture. Each pass eliminates four columns, after a search
// for the pivot of each. Then one pass over the trailing matrix subtracts `block` products from each element. Not in
// 'Query Processing on GPUs'; as in LAPACK's getrf, except that the pivots stay on the GPU.
//
//     | done  . . . . |     panel     its columns, from the diagonal down, four per texel, and row numbers
//     |  .  P T T T T |     triangle  the rows T = L^-1 A of the panel's rows, for all columns after it
//     |  .  P A A A A |     update    A -= P T
//     |  .  P A A A A |
#pragma once

#include <string>

#include "linalg/row_lu.hpp"
#include "pass/fold.hpp"

namespace quadmill::detail::linalg {

class BlockedLu {
  public:
    struct Form {
        Pivot pivot = Pivot::Partial;  // not Pivot::Full
        int block = 32;                // 8, 16 or 32
        Layout layout = Layout::Tiles;
    };
    BlockedLu(gl::Device& device, pass::Programs& programs, const Form& form, int rows, int columns);
    // The target of the matrix.
    [[nodiscard]] const gl::Texture& source() const { return source_.texture; }
    // Call it once.
    [[nodiscard]] Factorized operator()();

  private:
    // Columns [first, end), with rows from `first` on.
    struct Panel {
        int number, first, end;
    };
    [[nodiscard]] Panel panel(int number) const;
    [[nodiscard]] int panels() const { return (steps_ + form_.block - 1) / form_.block; }
    [[nodiscard]] int panel_width() const { return form_.block / 4 + 1; }
    void make_tiles();
    void load(const Panel& panel);
    // Up to four columns of a panel.
    struct Quarter {
        int first, columns;
    };
    void factor(const Panel& panel);
    void search(const Panel& panel, const Quarter& quarter, int known);
    void eliminate(const Panel& panel, const Quarter& quarter);
    [[nodiscard]] gl::Pass pivoting_pass(std::string_view name, const Panel& panel, const Quarter& quarter,
                                         int known) const;
    [[nodiscard]] const gl::Program& pivoting_program(const char* name, const char* fragment) const;
    void keep(const Panel& panel);
    void solve_rows(const Panel& panel);
    void update(const Panel& panel);
    void gather();
    void draw_quad(gl::Pass pass, const gl::QuadList& quads, const Panel& panel);

    gl::Device& device_;
    pass::Programs& programs_;
    Form form_;
    int rows_, columns_, steps_, padded_rows_;
    std::string prelude_;  // GLSL with the block size
    std::string tiles_;    // the same with the layout
    pass::Target source_;  // in the caller's layout; without tiles also one of the two alternating textures
    pass::PingPong trailing_;
    pass::PingPong panel_;
    pass::Target triangle_, panels_, lu_;
    pass::PingPong positions_;
    pass::PingPong searches_;  // partial results of a search, and earlier pivots
    const gl::Program& eliminate_;
    const gl::Program* search_ = nullptr;  // for partial pivoting
    // One per panel.
    gl::QuadList panel_quads_, search_quads_, keep_quads_, right_quads_, row_quads_, update_quads_, column_quads_;
};

}  // namespace quadmill::detail::linalg
