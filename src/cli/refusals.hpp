// What the library refuses, as the command says it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "files/files.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

// The library's messages begin with its function, of which who calls the command knows nothing.
inline std::string without_function(const InvalidArgument& error) {
    const std::string_view what = error.what();
    const auto colon = what.find(": ");
    return std::string(colon < what.find(' ') ? what.substr(colon + 2) : what);
}

// What is refused is wrong with the call.
template <class Work>
auto checked(const Work& work) {
    try {
        return work();
    } catch (const InvalidArgument& error) {
        throw CLI::ValidationError(without_function(error));
    }
}

// It is what a file holds.
[[noreturn]] inline void refuse_file(const std::string& file, const InvalidArgument& error) {
    throw InvalidArgument(files::input_name(file) + ": " + without_function(error));
}

}  // namespace quadmill::detail::cli
