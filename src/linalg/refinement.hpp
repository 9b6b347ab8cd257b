// Refines solutions to double accuracy, with residuals in double.
#pragma once

#include <functional>

#include "cpu/workers.hpp"
#include "linalg/scaling.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::detail::linalg {

// The largest |value|; infinite if one is NaN.
[[nodiscard]] double largest(std::span<const double> values);

// Solves the scaled system for right-hand sides, row after row, with that many columns.
using Correct = std::function<std::vector<double>(std::span<const double> b)>;

// Solves B y = b for the scaled matrix B. A step adds a correction for the residual; steps continue while they halve
// the least residual so far, or the least componentwise one: at most some hundred. `y` has the best solution found.
template <class Value>
Refinement refine(const cpu::Workers& workers, const ScaledMatrix<Value>& matrix, std::span<const double> b,
                  std::span<double> y, std::size_t sides, const Correct& correct);

// The same with factors in double from the CPU, if floats do not suffice. Throws Error if a pivot is zero.
template <class Value>
Refinement refine_on_cpu(const cpu::Workers& workers, const ScaledMatrix<Value>& matrix, std::span<const double> b,
                         std::span<double> y, std::size_t sides);

// The largest sum of absolute values in a column of the scaled matrix.
template <class Value>
[[nodiscard]] double one_norm(const ScaledMatrix<Value>& matrix);

}  // namespace quadmill::detail::linalg
