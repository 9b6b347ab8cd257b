// Text for a terminal, without control characters.
#pragma once

#include <string>
#include <string_view>

#include "quadmill/error.hpp"

namespace quadmill::detail::input {

// Writes control characters as \x1b, including those of UTF-8 beyond ASCII (U+0080 to U+009F). Line ends and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);
// A message of the library without the name of the function or class at its beginning ("QueryProcessor::run: ", "Lu: ",
// "sort_file: "), which means nothing to users of the command.
[[nodiscard]] std::string_view without_function(std::string_view message);
// The same of an argument that the library rejects: what is before the first colon is a name if it is one word.
[[nodiscard]] inline std::string without_function(const InvalidArgument& error) {
    const std::string_view what = error.what();
    const auto colon = what.find(": ");
    return std::string(colon < what.find(' ') ? what.substr(colon + 2) : what);
}
// A byte written like \x1b.
[[nodiscard]] std::string as_escape(unsigned char byte);

}  // namespace quadmill::detail::input
