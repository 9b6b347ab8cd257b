// Accuracy of factors, computed by the CPU in double.
#pragma once

#include "quadmill/linalg.hpp"

namespace quadmill::detail::linalg {

// |(L U - P A Q) z| / (n |A| |z| 2^-24) in 1-norms, the max over a few vectors z of random signs. It is at most
// LAPACK's ratio |L U - P A Q| / (n |A| 2^-24), and takes n^2 operations.
[[nodiscard]] double residual_ratio(MatrixView matrix, const Factors& factors);
[[nodiscard]] double residual_ratio(DoubleMatrixView matrix, const Factors& factors);
// The max of residual_ratio() over consecutive n x n matrices.
[[nodiscard]] double residual_ratio(std::span<const float> matrices, const BatchFactors& factors, std::size_t n);
// The largest element of U divided by the largest element of the matrix.
[[nodiscard]] double growth(MatrixView matrix, const Factors& factors);
[[nodiscard]] double growth(DoubleMatrixView matrix, const Factors& factors);

}  // namespace quadmill::detail::linalg
