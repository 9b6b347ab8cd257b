#include "pass/quad_lists.hpp"

#include "pass/target.hpp"

namespace quadmill::detail::pass {

namespace {

std::size_t number(int i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

const gl::QuadList& QuadLists::kept(const Key& key, const std::function<std::vector<gl::Quad>()>& make) {
    if (const auto found = lists_.find(key); found != lists_.end()) return found->second;
    constexpr std::size_t max = 1024;
    if (lists_.size() >= max) lists_.clear();
    return lists_.emplace(key, gl::QuadList(device_, make())).first->second;
}

const gl::QuadList& QuadLists::rectangle(int left, int top, int right, int bottom) {
    return kept({0, number(left), number(top), number(right), number(bottom)},
                [&] { return std::vector{gl::rectangle(left, top, right, bottom)}; });
}

const gl::QuadList& QuadLists::first_texels(int width, std::size_t count) {
    return kept({1, number(width), count, 0, 0}, [&] { return pass::first_texels(width, count); });
}

const gl::QuadList& QuadLists::rows_twice(int width, int first, int end, int down) {
    return kept({2, number(width), number(first), number(end), number(down)}, [&] {
        return std::vector{gl::rectangle(0, first, width, end), gl::rectangle(0, down + first, width, down + end)};
    });
}

}  // namespace quadmill::detail::pass
