// Checks for values of options. Their messages say what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace quadmill::detail::input {

// A whole number, at least 1, such as 1000, 10,000, 2^20, 1e6, 10k, 10K or 2M.
[[nodiscard]] CLI::Validator count_up_to(std::uint64_t max);
// A whole number in that range, written in digits.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);
// The same, and help shows the range.
[[nodiscard]] CLI::Validator shown_number(std::uint64_t min, std::uint64_t max);
// A number of CPU threads. 0 means all.
[[nodiscard]] CLI::Validator thread_count();
// Bytes, such as 256M or 4G.
[[nodiscard]] CLI::Validator byte_count();
// A number in that range, not NaN.
[[nodiscard]] CLI::Validator number_from(double min, double max);

// The same for a fraction, which may be written as 0.99, 99% or p99.
[[nodiscard]] CLI::Validator fraction_from(double min, double max);

// The parts of "0.5,0.99", including empty parts, which CLI11's own delimiter drops.
[[nodiscard]] std::vector<std::string> comma_separated(const std::string& text);
// A character between fields. "auto" stays, and "\\t" and "tab" become a tab.
[[nodiscard]] CLI::Validator field_delimiter();
// A file name that is not empty.
[[nodiscard]] CLI::Validator file_name();

// Throws CLI::ValidationError for that option if the output would replace one of these files, by device and inode; "-"
// is standard output or input.
void refuse_inputs(const std::string& option, const std::string& output, const std::vector<std::string>& inputs);

// A comma-separated list. A part is replaced by what `part` makes of it.
[[nodiscard]] CLI::Validator each_of(const CLI::Validator& part);

}  // namespace quadmill::detail::input
