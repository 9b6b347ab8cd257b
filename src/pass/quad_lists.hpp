// Quads that are drawn again in each call.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "gl/pass.hpp"

namespace quadmill::detail::pass {

// Keeps lists of quads: making one takes drivers as long as some draws. A reference holds until the next call.
class QuadLists {
  public:
    explicit QuadLists(gl::Device& device) : device_(device) {}

    // A rectangle of texels.
    const gl::QuadList& rectangle(int left, int top, int right, int bottom);
    // The first `count` texels of a texture (first_texels).
    const gl::QuadList& first_texels(int width, std::size_t count);
    // Two rectangles over the whole width: rows [first, end), and rows [first + down, end + down).
    const gl::QuadList& rows_twice(int width, int first, int end, int down);

  private:
    enum class Kind { Rectangle, FirstTexels, RowsTwice };
    struct Kept {
        Kind kind;
        std::array<std::size_t, 4> numbers;
        gl::QuadList list;
    };
    const gl::QuadList& kept(Kind kind, const std::array<std::size_t, 4>& numbers);

    gl::Device& device_;
    std::vector<Kept> lists_;
};

}  // namespace quadmill::detail::pass
