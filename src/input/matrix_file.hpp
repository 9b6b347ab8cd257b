// Matrices from files: Matrix Market's text, or raw 32-bit floats row after row.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadmill::cli {

struct MatrixFile {
    std::size_t rows = 0, columns = 0;
    std::vector<float> values;  // row after row
};

// Matrix Market where the file begins so, else raw: of `columns` columns, or square. Throws IoError, and
// InvalidArgument with the line, also for what is not finite.
[[nodiscard]] MatrixFile read_matrix(const std::string& path, std::optional<std::size_t> columns);

// Whether that name asks for Matrix Market.
[[nodiscard]] bool is_matrix_market(const std::string& path);
// Matrix Market's dense form.
template <class Value>
[[nodiscard]] std::string matrix_market(std::span<const Value> values, std::size_t rows, std::size_t columns);

}  // namespace quadmill::cli
