// Solves with factors in a texture, in blocks: a triangle, then a block of products is subtracted from all other rows.
#pragma once

#include "linalg/row_lu.hpp"

namespace quadmill::detail::linalg {

class Substitution {
  public:
    // `lu`: square. For that many right-hand sides.
    Substitution(gl::Device& device, pass::Programs& programs, const gl::Texture& lu, int columns);
    // The target of the right-hand sides, with rows in the order of L's.
    [[nodiscard]] const gl::Texture& source() const { return sides_.now.texture; }
    // The solutions, rows in the order of U's columns.
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
    gl::QuadList row_quads_, below_, above_;  // one a block
};

}  // namespace quadmill::detail::linalg
