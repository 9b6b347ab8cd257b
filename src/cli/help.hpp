// The format of the command's help: groups of options, lines of at most 80 columns, readable types.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace quadmill::detail::cli {

// -h shows common options, --help all. Call it before verbs are added.
void set_help(CLI::App& app);
// Sorts the options of the program and of all verbs into groups. Call it when all are added.
void group_options(CLI::App& app);

// "N", "FILE", "asc|desc"; empty for flags.
[[nodiscard]] std::string shown_type(const CLI::Option& option);
// The description, with the default, the options that it excludes and those that it needs.
[[nodiscard]] std::string shown_description(const CLI::Option& option);

// What a list of verbs says about one: the first line of its description.
[[nodiscard]] std::string first_line_of(const std::string& text);
// The description or footer of a help text in lines of at most 80 columns. Lines that begin with two blanks are
// commands, and lines that begin with "- " are items of a list.
[[nodiscard]] std::string wrapped_footer(const std::string& text);

// The group of options that -h leaves out because they only change speed.
inline constexpr const char* performance_group = "Performance";

// The group of `sort` for lines of text.
inline constexpr const char* lines_group = "Lines of text";

extern const char* const exit_statuses;

}  // namespace quadmill::detail::cli
