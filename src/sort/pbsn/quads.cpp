#include "sort/pbsn/quads.hpp"

namespace quadmill::detail::sort {

using gl::corners;

gl::Quad copy_quad(int width, int height) {
    return gl::rectangle(0, 0, width, height);
}

gl::Quad compute_min(int s, int width, int height) {
    return {corners(0, s, width, s + height / 2), corners(width, s + height, 0, s + height / 2)};
}

gl::Quad compute_max(int s, int width, int height) {
    return {corners(0, s + height / 2, width, s + height), corners(width, s + height / 2, 0, s)};
}

gl::Quad compute_row_min(int offset, int block, int height) {
    return {corners(offset, 0, offset + block / 2, height), corners(offset + block, 0, offset + block / 2, height)};
}

gl::Quad compute_row_max(int offset, int block, int height) {
    return {corners(offset + block / 2, 0, offset + block, height), corners(offset + block / 2, 0, offset, height)};
}

StepQuads sort_step(int width, int height, std::size_t block) {
    StepQuads quads;
    if (block <= static_cast<std::size_t>(width)) {
        const int columns = static_cast<int>(block);
        for (int offset = 0; offset < width; offset += columns) {
            quads.min.push_back(compute_row_min(offset, columns, height));
            quads.max.push_back(compute_row_max(offset, columns, height));
        }
    } else {
        const int rows = static_cast<int>(block / static_cast<std::size_t>(width));
        for (int offset = 0; offset < height; offset += rows) {
            quads.min.push_back(compute_min(offset, width, rows));
            quads.max.push_back(compute_max(offset, width, rows));
        }
    }
    return quads;
}

std::vector<gl::Quad> next_element_quads(int width, int height, std::size_t window) {
    std::vector<gl::Quad> quads;
    const auto add = [&](int x0, int y0, int x1, int y1, int next_x, int next_y) {
        if (x0 >= x1 || y0 >= y1) return;
        quads.push_back({corners(x0, y0, x1, y1), corners(next_x, next_y, next_x + x1 - x0, next_y + y1 - y0)});
    };
    if (window <= static_cast<std::size_t>(width)) {
        const int columns = static_cast<int>(window);
        for (int offset = 0; offset < width; offset += columns)
            add(offset, 0, offset + columns - 1, height, offset + 1, 0);
    } else {
        const int rows = static_cast<int>(window / static_cast<std::size_t>(width));
        add(0, 0, width - 1, height, 1, 0);
        for (int offset = 0; offset < height; offset += rows)  // from the end of each row to the start of the next one
            add(width - 1, offset, width, offset + rows - 1, 0, offset + 1);
    }
    return quads;
}

}  // namespace quadmill::detail::sort
