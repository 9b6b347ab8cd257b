// Handles closed standard input, output and error: `quadmill ... >&-`.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace quadmill::detail::input {

// Otherwise the next file that is opened would become standard input, output or error, and would be read or overwritten
// with answers. Call it first in main. Input is opened for writing and output for reading, so that using them is an
// error. Messages to a closed standard error are lost, as the caller wanted.
inline void open_standard_files() {
    constexpr std::array ways{O_WRONLY, O_RDONLY, O_WRONLY};
    for (int file = 0; file < static_cast<int>(ways.size()); ++file) {
        if (fcntl(file, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", ways[static_cast<std::size_t>(file)]) != file) _exit(1);
    }
}

// Whether all output was written. Call it at the end of main.
inline bool standard_output_is_written() {
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace quadmill::detail::input
