// Other programs: started without a shell, and waited for.
#pragma once

#include <string>
#include <vector>

namespace quadmill::detail::input {

struct ProgramRun {
    int start_error = 0;             // an errno: it did not start
    std::string failure{};           // empty: all went well; otherwise its last words, or how it ended
    std::string output{}, errors{};  // what it wrote to standard output, and to standard error
    double ms = 0;                   // until it ended
};

// `words`: the program, looked for on PATH, and its arguments. It runs in that folder, without input, and no signal is
// held back, whatever this thread does with them.
[[nodiscard]] ProgramRun run_program(std::vector<std::string> words, const std::string& directory = ".");

}  // namespace quadmill::detail::input
