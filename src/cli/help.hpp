// The format of the command's help: groups of options, lines of at most 80 columns, readable types.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace quadmill::detail::cli {

// -h shows everyday options, --help all. Call it before verbs are added.
void set_help(CLI::App& app);
// Sorts the options of the program and of all verbs into groups. Call it when all are added.
void group_options(CLI::App& app);

// "N", "FILE", "asc|desc"; empty for flags.
[[nodiscard]] std::string shown_type(const CLI::Option& option);
// The description, with the default and the options that it excludes.
[[nodiscard]] std::string shown_description(const CLI::Option& option);

extern const char* const exit_statuses;

}  // namespace quadmill::detail::cli
