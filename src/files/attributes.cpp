#include "files/attributes.hpp"

#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

namespace quadmill::detail::files {

namespace {

constexpr const char* access_list = "system.posix_acl_access";
constexpr std::array<std::string_view, 3> lost_by_writing{"security.capability", "security.ima", "security.evm"};

// Calls read(memory, size), which fails with ERANGE if the memory is too small, until it succeeds. Nothing if it fails
// otherwise.
template <class Read>
std::optional<std::vector<char>> read_all(const Read& read) {
    for (;;) {
        const auto size = read(nullptr, 0);
        if (size < 0) return {};
        std::vector<char> memory(static_cast<std::size_t>(size));
        const auto got = read(memory.data(), memory.size());
        if (got < 0 && errno == ERANGE) continue;  // it has grown in the meantime
        if (got < 0) return {};
        memory.resize(static_cast<std::size_t>(got));
        return memory;
    }
}

// On a file system without attributes, the list is empty.
std::vector<std::string> attribute_names(const std::string& path) {
    const auto list = read_all([&](char* memory, std::size_t size) { return listxattr(path.c_str(), memory, size); });
    std::vector<std::string> names;
    if (!list) return names;
    for (auto begin = list->begin(); begin != list->end();) {
        const auto end = std::find(begin, list->end(), '\0');
        names.emplace_back(begin, end);
        begin = end == list->end() ? end : end + 1;
    }
    return names;
}

std::optional<NotKept> copy_attribute(const std::string& from, const std::string& name, int to) {
    const auto value =
        read_all([&](char* memory, std::size_t size) { return getxattr(from.c_str(), name.c_str(), memory, size); });
    if (!value) return NotKept{name, errno};
    const auto there =
        read_all([&](char* memory, std::size_t size) { return fgetxattr(to, name.c_str(), memory, size); });
    // The system labels new files itself, and may not permit anyone to do it.
    if (there == value || fsetxattr(to, name.c_str(), value->data(), value->size(), 0) == 0) return {};
    return NotKept{name, errno};
}

}  // namespace

std::optional<NotKept> copy_attributes(const std::string& from, const struct stat& facts, int to) {
    struct stat made {};
    if (fstat(to, &made) != 0) return NotKept{"owner", errno};
    // The owner comes before the permissions: changing the owner clears some of them.
    if (made.st_gid != facts.st_gid && fchown(to, static_cast<uid_t>(-1), facts.st_gid) != 0)
        return NotKept{"group " + std::to_string(facts.st_gid), errno};
    if (made.st_uid != facts.st_uid && fchown(to, facts.st_uid, static_cast<gid_t>(-1)) != 0)
        return NotKept{"owner " + std::to_string(facts.st_uid), errno};
    fremovexattr(to, access_list);  // a new file may have one from its folder's defaults
    const auto permissions = facts.st_mode & 07777U;
    if (fstat(to, &made) != 0 || ((made.st_mode & 07777U) != permissions && fchmod(to, permissions) != 0))
        return NotKept{"permissions", errno};
    for (const auto& name : attribute_names(from)) {
        if (std::ranges::find(lost_by_writing, name) != lost_by_writing.end()) continue;
        if (auto failed = copy_attribute(from, name, to)) return failed;
    }
    return {};
}

}  // namespace quadmill::detail::files
