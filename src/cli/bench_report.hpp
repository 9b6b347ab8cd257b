// What the benches of sorts have in common: options, contenders, and the facts at the head of a report.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/inputs.hpp"
#include "bench/rivals.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::cli {

// "1000" or "2^20" to a count.
[[nodiscard]] CLI::Validator count_of_keys();

// The options that both have, and what comes of them.
struct BenchOptions {
    std::vector<KeyType> types{KeyType::F32};
    std::vector<detail::bench::Distribution> distributions{detail::bench::Distribution::Uniform};
    std::vector<Engine> engines;
    bool with_rivals = false, json = false;
    int repeat = 5, device = -1;
    std::string command_line;

    // "sort" or "stream". Sets options but for those of the engines, of which `all` are the default.
    void add_to(CLI::App& verb, const std::string& all);
    // The rivals that are wanted and were built in. Of those that were not, a note goes to standard error.
    [[nodiscard]] std::vector<const detail::bench::Rival*> rivals(const std::string& verb) const;

    struct Opened {
        std::optional<Context> context;
        std::string why_no_context;
    };
    [[nodiscard]] Opened open_context() const;
    // Which program measured when on what, and which rivals are missing.
    [[nodiscard]] nlohmann::ordered_json facts(const std::optional<Context>& context) const;
    // The same on one line, and how the times were taken.
    void print_facts(const std::optional<Context>& context, const std::string& how) const;
};

void add_bench_sort_command(CLI::App& bench, const std::string& command_line);
void add_bench_stream_command(CLI::App& bench, const std::string& command_line);

}  // namespace quadmill::cli
