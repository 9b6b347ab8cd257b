// Owner, permissions and attributes of a file.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace quadmill::detail::files {

// An attribute that could not be given to a file, and errno's reason.
struct NotKept {
    std::string what;
    int error;
};

// Gives an open file the owner, group, permissions, access list and extended attributes of another one; `facts` are the
// other one's. Leaves out attributes that the system removes from a file when it is written: capabilities and hashes.
[[nodiscard]] std::optional<NotKept> copy_attributes(const std::string& from, const struct stat& facts, int to);

}  // namespace quadmill::detail::files
