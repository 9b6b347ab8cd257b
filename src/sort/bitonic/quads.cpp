#include "sort/bitonic/quads.hpp"

#include <algorithm>

namespace quadmill::detail::sort {

namespace {

// A size in texels, or in chunks of the texture's texels.
struct Size {
    int width, height;
};

gl::Quad::Corners moved(const gl::Quad::Corners& c, int x, int y) {
    const auto dx = static_cast<float>(x), dy = static_cast<float>(y);
    return {c.x0 + dx, c.y0 + dy, c.x1 + dx, c.y1 + dy};
}

class Quads {
  public:
    Quads(const BitonicShape& shape, const BitonicPass& pass, int block)
        : shape_(shape), pass_(pass), top_(pass.low + pass.steps - 1) {
        const int across = shape.width_log2;
        along_rows_ = pass.steps == 0 ? pass.turn < across : top_ < across;
        constexpr int narrow_log2 = 3;  // NVIDIA shades 2 x 2 texels together, llvmpipe 4 x 4
        if (pass.steps > 1 && along_rows_ && pass.low < narrow_log2) columns_ = (1 << pass.steps) - 1;
        // The texels of one quad are on the same side in all steps and have the same direction, except for what
        // `columns` and `turn_row` change.
        const int same = pass.steps == 0 || columns_ != 0 ? pass.turn : pass.low;
        quad_ = {shape.width(), shape.height};
        if (same >= 0) quad_.width = 1 << std::min(same, across);  // otherwise no direction is reversed
        if (!along_rows_) quad_.height = 1 << std::max(same - across, 0);
        const int distance = 1 << std::max(along_rows_ ? top_ : top_ - across, 0);
        const bool blocked = pass.steps > 0 && distance < block && (along_rows_ || pass.low >= across);
        block_ = blocked ? Size{std::min(block, shape.width()), std::min(block, shape.height)}
                         : Size{shape.width(), shape.height};
    }

    BitonicQuads make() {
        BitonicQuads all;
        all.columns = columns_;
        if (along_rows_ && pass_.turn >= shape_.width_log2) all.turn_row = 1 << (pass_.turn - shape_.width_log2);
        const auto height = std::min(quad_.height, block_.height), width = std::min(quad_.width, block_.width);
        for (int top = 0; top < shape_.height; top += block_.height) {
            const int end = std::min(top + block_.height, shape_.height);
            for (int left = 0; left < shape_.width(); left += block_.width) {
                for (int y = top; y < end; y += height) {
                    for (int x = left; x < left + block_.width; x += width)
                        all.quads.push_back(quad(x, y, x + width, std::min(y + height, end)));
                }
            }
        }
        return all;
    }

  private:
    [[nodiscard]] gl::Quad quad(int x0, int y0, int x1, int y1) const {
        const auto target = gl::corners(x0, y0, x1, y1);
        // Number of the quad's first texel. For columns, the bits that count rows do not matter.
        const int first = along_rows_ ? x0 : (y0 << shape_.width_log2) + x0;
        const bool turned = pass_.turn >= 0 && (first >> pass_.turn & 1) != 0;
        const int chunk = (columns_ != 0 ? 0 : first >> pass_.low) ^ (turned ? -1 : 0);
        const int code = (chunk & ((1 << pass_.steps) - 1)) | (turned ? 1 << pass_.steps : 0);
        int x = code << shape_.width_log2, y = 0;
        if (pass_.steps > 0 && columns_ == 0) {
            const int sign = (first >> top_ & 1) != 0 ? -1 : 1;
            (along_rows_ ? x : y) += sign * (1 << (along_rows_ ? top_ : top_ - shape_.width_log2));
        }
        return {target, moved(target, x, y)};
    }

    const BitonicShape& shape_;
    const BitonicPass& pass_;
    int top_;          // log2 of the distance of the first step
    bool along_rows_;  // partners are in the same row: quads are columns
    int columns_ = 0;
    Size quad_{}, block_{};
};

}  // namespace

BitonicQuads bitonic_quads(const BitonicShape& shape, const BitonicPass& pass, int block) {
    return Quads(shape, pass, block).make();
}

}  // namespace quadmill::detail::sort
