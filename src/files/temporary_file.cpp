#include "files/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "files/fault.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::files {

namespace {

constexpr std::string_view temporary_mark = ".part-quadmill-", temporary_pattern = "XXXXXX";

// Locks a new file; false when another run has taken it for a leftover before.
bool lock_temporary(int file, const std::string& path) {
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
    return has_name(file, path);
}

}  // namespace

std::string temporary_folder() {
    const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return folder && *folder ? folder : "/tmp";
}

bool has_name(int file, const std::string& path) {
    struct stat opened {};
    struct stat named {};
    return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

std::pair<int, std::string> create_locked(const std::string& target) {
    for (;;) {
        auto path = target + std::string(temporary_mark) + std::string(temporary_pattern);
        const int file = fails(Call::Open) ? -1 : mkostemp(path.data(), O_CLOEXEC);
        if (file < 0) return {-1, {}};
        if (lock_temporary(file, path)) return {file, std::move(path)};
        close(file);
    }
}

void remove_leftovers(const std::string& target) {
    const std::filesystem::path path(target);
    const auto begin = path.filename().string() + std::string(temporary_mark);
    std::error_code none;  // what cannot be looked at stays
    std::filesystem::directory_iterator entry(path.has_parent_path() ? path.parent_path() : ".", none);
    for (; !none && entry != std::filesystem::directory_iterator(); entry.increment(none)) {
        const auto beside = entry->path();
        const auto name = beside.filename().string();
        if (!name.starts_with(begin) || name.size() != begin.size() + temporary_pattern.size()) continue;
        const int file = open(beside.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(beside.c_str());
        close(file);
    }
}

TemporaryFile::TemporaryFile(std::string folder) : folder_(std::move(folder)) {
    // A fault is an answer to the first of the two calls; EOPNOTSUPP leads to the second.
    file_ = fails(Call::Open) ? -1 : open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        const auto target = (std::filesystem::path(folder_) / "runs").string();
        remove_leftovers(target);
        auto [file, path] = create_locked(target);
        file_ = file;
        if (file_ >= 0) unlink(path.c_str());
    }
    if (file_ < 0) {
        throw IoError("cannot create a temporary file in '" + folder_ + "': " + std::strerror(errno), folder_, 0);
    }
}

TemporaryFile::~TemporaryFile() {
    if (file_ >= 0) close(file_);
}

}  // namespace quadmill::detail::files
