// Refines solutions to double accuracy, with residuals computed in double.
#pragma once

#include <functional>

#include "cpu/workers.hpp"
#include "linalg/scaling.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::detail::linalg {

// The largest |value|; infinite if one is NaN.
[[nodiscard]] double largest(std::span<const double> values);

// Solves the scaled system for right-hand sides, which are stored by rows of that many columns.
using Correct = std::function<std::vector<double>(std::span<const double> b)>;

// Solves B y = b for the scaled matrix B. A step adds a correction for the residual. Steps continue while they halve
// the smallest residual so far, or the smallest componentwise one, for at most some hundred steps. `y` gets the best
// solution found.
template <class Value>
Refinement refine(const cpu::Workers& workers, const ScaledMatrix<Value>& matrix, std::span<const double> b,
                  std::span<double> y, std::size_t sides, const Correct& correct);

// The same with factors in double on the CPU, if floats do not suffice. Throws Error if a pivot is zero.
template <class Value>
Refinement refine_on_cpu(const cpu::Workers& workers, const ScaledMatrix<Value>& matrix, std::span<const double> b,
                         std::span<double> y, std::size_t sides);

// The largest column sum of absolute values in the scaled matrix.
template <class Value>
[[nodiscard]] double one_norm(const ScaledMatrix<Value>& matrix);

}  // namespace quadmill::detail::linalg
