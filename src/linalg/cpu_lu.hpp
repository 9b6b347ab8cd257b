// LU on the CPU with partial pivoting, for matrices that passes cannot factorize accurately. Also the CPU's operations
// on any factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu/workers.hpp"

namespace quadmill::detail::linalg {

// Row i of L * U is row rows[i] of the matrix, and likewise for columns. `lu` is stored by rows.
template <class Value>
struct FactorsView {
    std::span<const Value> lu;
    std::span<const std::uint32_t> rows, columns;
};

// Replaces a matrix that is stored by rows by its factors, and fills in the order of rows. Returns 0 or the number,
// counted from 1, of the first zero pivot. The column below a zero pivot is not changed, as in LAPACK.
template <class Value>
std::size_t factor_on_cpu(const cpu::Workers& workers, std::span<Value> matrix, std::size_t rows, std::size_t columns,
                          std::vector<std::uint32_t>& order);

// Solves A x = b, or A^T x = b, in double. Pre: square, no pivot is zero.
template <class Value>
[[nodiscard]] std::vector<double> solve_on_cpu(const FactorsView<Value>& factors, std::span<const double> b);
template <class Value>
[[nodiscard]] std::vector<double> solve_transposed_on_cpu(const FactorsView<Value>& factors, std::span<const double> b);

// Estimates |A^-1| in the 1-norm. The estimate is a lower bound and usually within a factor of 3; it is infinite if it
// overflows. The method is Hager and Higham's, as in LAPACK's sgecon. Pre: square, no pivot is zero.
template <class Value>
[[nodiscard]] double inverse_norm(const FactorsView<Value>& factors);

}  // namespace quadmill::detail::linalg
