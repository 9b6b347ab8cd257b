// LU on the CPU, with partial pivoting, for matrices that passes cannot factorize accurately. Also the CPU's work with
// any factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu/workers.hpp"

namespace quadmill::detail::linalg {

// Row i of L * U is row rows[i] of the matrix; columns likewise. `lu`: row after row.
template <class Value>
struct FactorsView {
    std::span<const Value> lu;
    std::span<const std::uint32_t> rows, columns;
};

// Replaces a matrix, row after row, by its factors, and fills the order of rows. Returns 0, or the number, from 1, of
// the first zero pivot. The column below a zero pivot is not changed, as in LAPACK.
template <class Value>
std::size_t factor_on_cpu(const cpu::Workers& workers, std::span<Value> matrix, std::size_t rows, std::size_t columns,
                          std::vector<std::uint32_t>& order);

// Solves A x = b, or A^T x = b, in double. Pre: square, no pivot is zero.
template <class Value>
[[nodiscard]] std::vector<double> solve_on_cpu(const FactorsView<Value>& factors, std::span<const double> b);
template <class Value>
[[nodiscard]] std::vector<double> solve_transposed_on_cpu(const FactorsView<Value>& factors, std::span<const double> b);

// An estimate of |A^-1| in the 1-norm, from below and usually within a factor of 3; infinite if it overflows. The
// method of Hager and Higham, as in LAPACK's sgecon. Pre: square, no pivot is zero.
template <class Value>
[[nodiscard]] double inverse_norm(const FactorsView<Value>& factors);

}  // namespace quadmill::detail::linalg
