// The verbs of the command. Each adds its options to the program, with a callback that runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "quadmill/context.hpp"

namespace quadmill::detail::cli {

// `command_line` goes into the report.
void add_bench_command(CLI::App& app, const std::string& command_line);
void add_corrsum_command(CLI::App& app);
void add_frequent_command(CLI::App& app);
void add_gensort_command(CLI::App& app);
void add_hhh_command(CLI::App& app);
void add_info_command(CLI::App& app);
void add_limits_command(CLI::App& app);
void add_lu_command(CLI::App& app);
void add_merge_command(CLI::App& app);
// The hidden verbs `man` and `completion`, which print pages about all others.
void add_pages_commands(CLI::App& app);
void add_quantiles_command(CLI::App& app);
void add_query_command(CLI::App& app);
void add_show_command(CLI::App& app);
void add_sketch_command(CLI::App& app);
void add_sort_command(CLI::App& app);
void add_terasort_command(CLI::App& app);
void add_tune_command(CLI::App& app);
void add_valsort_command(CLI::App& app);

// Adds --device, which means the same for every verb.
void add_device_option(CLI::App& command, int& device);
// --api: the version of OpenGL.
void add_api_option(CLI::App& command, OpenGl& api);
// The name of a version for --api and QUADMILL_API.
[[nodiscard]] std::string name_of(OpenGl api);

}  // namespace quadmill::detail::cli
