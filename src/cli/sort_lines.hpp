// `quadmill sort --lines`: lines of text by keys.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/devices.hpp"
#include "input/line_keys.hpp"
#include "quadmill/external.hpp"

namespace quadmill::detail::cli {

struct LineSort {
    bool lines = false;  // --lines
    std::vector<std::string> keys, columns;
    std::string separator;
    input::KeyRules rules;  // for keys without rules of their own
    bool unique = false, zero = false, merge = false;
    std::string files_from;  // the file with the names of the inputs, each with a zero byte at its end
    enum class Check { No, Names, Quiet } check = Check::No;
    std::vector<std::string> temp;
    std::uint64_t memory = std::uint64_t{256} << 20U;
};

// Adds the options that only lines have.
void add_line_options(CLI::App& verb, LineSort& sort);
// Whether one of them was given.
[[nodiscard]] bool has_line_options(const CLI::App& verb);
// Refuses options that only numbers have.
void refuse_options_of_numbers(const CLI::App& verb);

// Options that lines share with numbers.
struct LineRun {
    std::vector<std::string> inputs;
    std::string output;
    std::uint64_t header = 0;
    Engine engine = Engine::Auto;
    unsigned threads = 0;
    const Devices& devices;
    bool stats = false;
};
void sort_lines(const LineSort& sort, const LineRun& run);

}  // namespace quadmill::detail::cli
