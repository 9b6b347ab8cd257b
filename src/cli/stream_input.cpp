#include "cli/stream_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>

#include "quadmill/error.hpp"

namespace quadmill::cli {

StreamInput::StreamInput(const std::string& path) : file_(path) {
    // A pipe that holds as much as a read takes: twice as fast. Fails for what is no pipe, and does no harm.
    static_cast<void>(fcntl(file_.descriptor(), F_SETPIPE_SZ, static_cast<int>(room)));
}

bool StreamInput::more() {
    interrupt_.wait_for(file_.descriptor());
    if (interrupt_.came()) return false;
    const auto got = file_.read({memory_.get() + size_, room - size_});
    size_ += got;
    return got > 0;
}

void StreamInput::drop(std::size_t used) {
    std::copy(memory_.get() + used, memory_.get() + size_, memory_.get());
    size_ -= used;
}

void refuse_rest(const StreamInput& input, std::size_t value_bytes, const std::string& what) {
    throw InvalidArgument(
        fmt::format("{} ends with {} of the {} bytes of a {}; is --type right, or should it be --text?",
                    input.file().name(), input.bytes().size(), value_bytes, what));
}

}  // namespace quadmill::cli
