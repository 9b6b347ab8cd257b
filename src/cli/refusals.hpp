// Messages for calls that the library refuses.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

#include "files/files.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

// The library's messages begin with its function, which means nothing to users of the command.
inline std::string without_function(const InvalidArgument& error) {
    const std::string_view what = error.what();
    const auto colon = what.find(": ");
    return std::string(colon < what.find(' ') ? what.substr(colon + 2) : what);
}

// A refusal means that the call is wrong.
template <class Work>
auto checked(const Work& work) {
    try {
        return work();
    } catch (const InvalidArgument& error) {
        throw CLI::ValidationError(without_function(error));
    }
}

// Refuses options that would be ignored. `words`: what they need.
inline void only_with(const CLI::App& verb, std::initializer_list<const char*> options, bool applies,
                      const std::string& words) {
    for (const auto* option : options) {
        if (!applies && verb.count(option) > 0) throw CLI::ValidationError(option, "goes with " + words);
    }
}

// The content of a file is at fault.
[[noreturn]] inline void refuse_file(const std::string& file, const InvalidArgument& error) {
    throw InvalidArgument(files::input_name(file) + ": " + without_function(error));
}

}  // namespace quadmill::detail::cli
