// Solves with factors in a texture, block by block: solves with a triangle, then subtracts a block of products from all
// other rows.
#pragma once

#include "linalg/row_lu.hpp"

namespace quadmill::detail::linalg {

class Substitution {
  public:
    // `lu` is square. `columns` is the number of right-hand sides.
    Substitution(gl::Device& device, pass::Programs& programs, const gl::Texture& lu, int columns);
    // The target of the right-hand sides, with their rows in the order of L's rows.
    [[nodiscard]] const gl::Texture& source() const { return sides_.now.texture; }
    // The solutions, with their rows in the order of U's columns.
    [[nodiscard]] const gl::Texture& operator()();

  private:
    static constexpr int block = 32;
    enum class Triangle { Lower, Upper };
    void solve(Triangle triangle);

    gl::Device& device_;
    pass::Programs& programs_;
    const gl::Texture& lu_;
    int size_, columns_;
    pass::PingPong sides_;
    pass::Target solved_, rows_;
    gl::QuadList row_quads_, below_, above_;  // one quad per block
};

}  // namespace quadmill::detail::linalg
