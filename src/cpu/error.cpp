#include "quadmill/error.hpp"

#include <utility>

#include "cpu/merge.hpp"

namespace quadmill {

Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
GlError::~GlError() = default;
ContextError::~ContextError() = default;
IoError::~IoError() = default;
IoError::IoError(const std::string& what, std::string path, std::uint64_t offset)
    : Error(what), path_(std::move(path)), offset_(offset) {}

}  // namespace quadmill

namespace quadmill::detail::cpu {

void throw_not_sorted() {
    throw GlError(
        "keys that the GPU has sorted came back out of order: its driver breaks a rule of OpenGL; use "
        "Engine::Cpu, and try another version of the driver");
}

}  // namespace quadmill::detail::cpu
