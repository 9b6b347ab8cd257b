// Owner, permissions and attributes of a file.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace quadmill::detail::files {

// An attribute that a file could not get, and the reason (errno).
struct NotKept {
    std::string what;
    int error;
};

// Gives an open file the owner, group, permissions, access list and extended attributes of another file; `facts` are
// those of the other file. Leaves out attributes that the system removes when a file is written: capabilities and
// hashes.
[[nodiscard]] std::optional<NotKept> copy_attributes(const std::string& from, const struct stat& facts, int to);

}  // namespace quadmill::detail::files
