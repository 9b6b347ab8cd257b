// Tables from raw values and NumPy's files.
#pragma once

#include <string>

#include "input/csv.hpp"

namespace quadmill::detail::input {

// Whether a file of that name is one: .npy, or the name of a type of values, such as .f32.
[[nodiscard]] bool is_binary_name(const std::string& path);

struct BinaryTable {
    query::ColumnNames names{};
    CsvTable rows{};
};
// One column, value; of a matrix the columns column1, column2, ... Throws InvalidArgument for other shapes and types.
[[nodiscard]] BinaryTable read_binary_table(const std::string& path);

}  // namespace quadmill::detail::input
