#include "quadmill/error.hpp"

#include <utility>

namespace quadmill {

Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
GlError::~GlError() = default;
ContextError::~ContextError() = default;
IoError::~IoError() = default;
IoError::IoError(const std::string& what, std::string path, std::uint64_t offset)
    : Error(what), path_(std::move(path)), offset_(offset) {}

}  // namespace quadmill
