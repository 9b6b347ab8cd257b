// What the benches have in common: counts on the command line, and the facts at the head of a report.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "quadmill/context.hpp"

namespace quadmill::cli {

// "1000" or "2^20" to a count.
[[nodiscard]] CLI::Validator count_of_keys();

[[nodiscard]] std::string cpu_model();

// Which program measured when on what.
[[nodiscard]] nlohmann::ordered_json bench_facts(const std::string& command_line, const std::optional<Context>& context,
                                                 int repeat);

void add_bench_sort_command(CLI::App& bench, const std::string& command_line);
void add_bench_stream_command(CLI::App& bench, const std::string& command_line);

}  // namespace quadmill::cli
