// Finds the pivot of a step by parallel reduction. The pivot stays on the GPU, in a texel (key, index, row, column).
#pragma once

#include <map>
#include <utility>

#include "pass/fold.hpp"

namespace quadmill::detail::linalg {

class PivotSearch {
  public:
    enum class In { Matrix, MatrixByPointers };
    PivotSearch(gl::Device& device, pass::Programs& programs, In in);

    struct Range {
        int first;  // first row, and first column of a matrix
        int end_row, end_column;
    };
    // Finds the position of the largest absolute value; among equal values, the first in row-major order. NaNs count as
    // the largest. Pre: the range is not empty. The result is valid until the next call.
    [[nodiscard]] const gl::Texture& operator()(const gl::Texture& matrix, const gl::Texture* pointers,
                                                const Range& range);

  private:
    const pass::Fold& fold(int width, int height);

    gl::Device& device_;
    pass::Programs& programs_;
    pass::FoldRule rule_;
    const gl::Program& search_;
    std::map<std::pair<int, int>, pass::Fold> folds_;  // by the size of the texture that is folded
};

}  // namespace quadmill::detail::linalg
