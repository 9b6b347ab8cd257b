// Quads that are drawn again in each call.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "gl/pass.hpp"

namespace quadmill::detail::pass {

// Keeps lists of quads: making one takes drivers as long as some draws.
class QuadLists {
  public:
    explicit QuadLists(gl::Device& device) : device_(device) {}

    // A rectangle of texels. The reference holds until the next call.
    const gl::QuadList& rectangle(int left, int top, int right, int bottom);
    // The first `count` texels of a texture (first_texels). The reference holds until the next call.
    const gl::QuadList& first_texels(int width, std::size_t count);
    // Two rectangles over the whole width: rows [first, end), and the same further down. The reference holds until the
    // next call.
    const gl::QuadList& rows_twice(int width, int first, int end, int down);

  private:
    using Key = std::array<std::size_t, 5>;  // the kind and its numbers
    const gl::QuadList& kept(const Key& key, const std::function<std::vector<gl::Quad>()>& make);

    gl::Device& device_;
    std::map<Key, gl::QuadList> lists_;
};

}  // namespace quadmill::detail::pass
