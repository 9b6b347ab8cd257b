// Matrices from files: text of Matrix Market, NumPy's files, or raw 32-bit floats row after row; 64-bit floats if the
// name ends in .f64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadmill::detail::input {

template <class Value>
struct MatrixOf {
    std::size_t rows = 0, columns = 0;
    std::vector<Value> values;  // stored by rows
};
using MatrixFile = MatrixOf<float>;

// Matrix Market or NumPy if the file begins like that, otherwise raw, with `columns` columns or square. Throws IoError.
// Throws InvalidArgument, with the line, also for values that are not finite or too small for floats, and for files
// that look like other text or compressed files. A few lines of Matrix Market can describe a huge matrix: one with more
// elements is refused before any memory is taken.
template <class Value = float>
[[nodiscard]] MatrixOf<Value> read_matrix(const std::string& path, std::optional<std::size_t> columns,
                                          std::uint64_t max_elements = std::uint64_t{1} << 30U);

// Whether the name's ending means Matrix Market; and whether it means raw 64-bit floats.
[[nodiscard]] bool is_matrix_market(const std::string& path);
[[nodiscard]] bool is_raw_double(const std::string& path);
// Throws InvalidArgument, with the name, the value and the advice, if a value is beyond the range of floats.
[[nodiscard]] std::vector<float> to_floats(const std::string& name, std::span<const double> values,
                                           const std::string& advice);
// The content for a file of that name: Matrix Market's dense form, with enough digits to read the numbers back exactly,
// or raw values. Throws InvalidArgument for doubles that do not fit into raw floats.
template <class Value>
[[nodiscard]] std::string matrix_content(const std::string& path, const MatrixOf<Value>& matrix);

}  // namespace quadmill::detail::input
