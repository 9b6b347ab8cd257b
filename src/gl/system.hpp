// The operating system's part of src/gl: files and memory. A page has none of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace quadmill::detail::gl {

// Bytes of memory that the machine has free, if it says.
[[nodiscard]] std::optional<std::size_t> free_memory();

// If QUADMILL_SHADERS=FOLDER is set, writes each shader that is compiled to that folder.
void keep_source(const char* name, const char* suffix, const std::string& text);

}  // namespace quadmill::detail::gl
