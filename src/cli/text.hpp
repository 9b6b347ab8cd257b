// Numbers as text, one a line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/sort.hpp"

namespace quadmill::cli {

// For each type of key. Throws InvalidArgument, naming the line, when a line is no number of the type or out of its
// range.
template <class Key>
void parse_lines(std::string_view text, const std::string& path, std::vector<Key>& keys);

// The shortest text that reads back as the same value, each on a line.
template <class Key>
[[nodiscard]] std::string format_lines(std::span<const Key> keys);

}  // namespace quadmill::cli
