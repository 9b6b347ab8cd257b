// Numbers as text, one a line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/sort.hpp"

namespace quadmill::cli {

// Throws InvalidArgument, naming the line, when a line is no number or its number is out of the type's range.
void parse_lines(std::string_view text, const std::string& path, std::vector<float>& values);
void parse_lines(std::string_view text, const std::string& path, std::vector<Half>& values);

// The shortest text that reads back as the same value, each on a line.
[[nodiscard]] std::string format_lines(std::span<const float> values);
[[nodiscard]] std::string format_lines(std::span<const Half> values);

}  // namespace quadmill::cli
