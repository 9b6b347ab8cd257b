#include "pass/quad_lists.hpp"

#include <utility>

#include "pass/target.hpp"

namespace quadmill::detail::pass {

namespace {

std::size_t number(int i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

const gl::QuadList& QuadLists::kept(Kind kind, const std::array<std::size_t, 4>& numbers) {
    for (const auto& one : lists_) {
        if (one.kind == kind && one.numbers == numbers) return one.list;
    }
    constexpr std::size_t max = 256;
    if (lists_.size() >= max) lists_.clear();
    const auto n = [&](std::size_t i) { return static_cast<int>(numbers[i]); };
    std::vector<gl::Quad> quads;
    if (kind == Kind::FirstTexels) {
        quads = pass::first_texels(n(0), numbers[1]);
    } else if (kind == Kind::Rectangle) {
        quads = {gl::rectangle(n(0), n(1), n(2), n(3))};
    } else {
        quads = {gl::rectangle(0, n(1), n(0), n(2)), gl::rectangle(0, n(3) + n(1), n(0), n(3) + n(2))};
    }
    lists_.push_back({kind, numbers, gl::QuadList(device_, std::move(quads))});
    return lists_.back().list;
}

const gl::QuadList& QuadLists::rectangle(int left, int top, int right, int bottom) {
    return kept(Kind::Rectangle, {number(left), number(top), number(right), number(bottom)});
}

const gl::QuadList& QuadLists::first_texels(int width, std::size_t count) {
    return kept(Kind::FirstTexels, {number(width), count});
}

const gl::QuadList& QuadLists::rows_twice(int width, int first, int end, int down) {
    return kept(Kind::RowsTwice, {number(width), number(first), number(end), number(down)});
}

}  // namespace quadmill::detail::pass
