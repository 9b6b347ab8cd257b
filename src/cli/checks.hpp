// Checks of options' values, which say what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace quadmill::cli {

// A whole number from 1, such as 1000 or 2^20.
[[nodiscard]] CLI::Validator count_up_to(std::uint64_t most);
// A number, neither NaN nor outside.
[[nodiscard]] CLI::Validator number_from(double least, double most);

}  // namespace quadmill::cli
