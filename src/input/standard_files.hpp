// Standard input, output and error where the caller has closed them: `quadmill ... >&-`.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace quadmill::detail::input {

// Keeps the next file that is opened from becoming one of the three, which would then be read, or written with answers.
// In main, before all else. Input and output are opened the wrong way round, so that to use them is an error and not
// silence; what is said on a closed standard error is lost, as its owner wished.
inline void open_standard_files() {
    constexpr std::array ways{O_WRONLY, O_RDONLY, O_WRONLY};
    for (int file = 0; file < static_cast<int>(ways.size()); ++file) {
        if (fcntl(file, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", ways[static_cast<std::size_t>(file)]) != file) _exit(1);
    }
}

// Whether all that was printed has got where it should. In main, at the end.
inline bool standard_output_is_written() {
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace quadmill::detail::input
