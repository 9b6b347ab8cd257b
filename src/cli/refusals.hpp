// Messages for arguments that the library rejects.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

#include "files/files.hpp"
#include "input/printable.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

using input::without_function;

// Reports InvalidArgument as a wrong call.
template <class Work>
auto checked(const Work& work) {
    try {
        return work();
    } catch (const InvalidArgument& error) {
        throw CLI::ValidationError(without_function(error));
    }
}

// Rejects options that would be ignored. `words` says what they need.
inline void only_with(const CLI::App& verb, std::initializer_list<const char*> options, bool applies,
                      const std::string& words) {
    for (const auto* option : options) {
        if (!applies && verb.count(option) > 0) throw CLI::ValidationError(option, "goes with " + words);
    }
}

// Rejects binary output to a terminal.
inline void refuse_terminal(const std::string& option, const files::OutputFile& file) {
    if (file.is_terminal()) throw CLI::ValidationError(option, "standard output is a terminal; name a file");
}

// Reports that the content of a file is wrong.
[[noreturn]] inline void refuse_file(const std::string& file, const InvalidArgument& error) {
    throw InvalidArgument(files::input_name(file) + ": " + without_function(error));
}

}  // namespace quadmill::detail::cli
