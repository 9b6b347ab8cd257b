// Runs other programs without a shell, and waits for them.
#pragma once

#include <string>
#include <vector>

namespace quadmill::detail::input {

struct ProgramRun {
    int start_error = 0;             // errno if it did not start
    std::string failure{};           // empty on success; otherwise its last words, or how it ended
    std::string output{}, errors{};  // what it wrote to standard output, and to standard error
    double ms = 0;                   // until it ended
};

// `words` are the program, which is searched on PATH, and its arguments. It runs in that folder, without input, and
// with no signal blocked, whatever this thread blocks.
[[nodiscard]] ProgramRun run_program(std::vector<std::string> words, const std::string& directory = ".");

}  // namespace quadmill::detail::input
