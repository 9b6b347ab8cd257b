#include "files/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

#include "files/fault.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::files {

namespace {

constexpr std::string_view temporary_mark = ".part-quadmill-";
constexpr std::size_t name_letters = 6;

void lock(int file) {
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
}

// A name next to `target` that is unlikely to be in use.
std::string name_next_to(const std::string& target) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    static thread_local std::minstd_rand random(std::random_device{}());
    auto name = target + std::string(temporary_mark);
    for (std::size_t i = 0; i < name_letters; ++i) name += letters[random() % letters.size()];
    return name;
}

std::filesystem::path folder_of(const std::string& target) {
    const std::filesystem::path path(target);
    return path.has_parent_path() ? path.parent_path() : ".";
}

// Calls work(name) with new names until no file of that name exists. Returns the name, or an empty one if it fails.
template <class Work>
std::string with_new_name(const std::string& target, const Work& work) {
    for (;;) {
        auto name = name_next_to(target);
        if (work(name)) return name;
        if (errno != EEXIST) return {};
    }
}

int open_nameless(const std::filesystem::path& folder, mode_t permissions) {
    return fails(Call::Open) ? -1 : open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, permissions);
}

// Some systems have nameless files but permit nobody to name them. So this tries it.
bool can_be_named(const std::string& target) {
    const int file = open_nameless(folder_of(target), 0600);
    if (file < 0) return false;
    const auto name = name_nameless(file, target);
    if (!name.empty()) unlink(name.c_str());
    close(file);
    if (name.empty()) errno = EOPNOTSUPP;
    return !name.empty();
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

std::pair<int, std::string> create_locked(const std::string& target, mode_t permissions) {
    for (;;) {
        int file = -1;
        auto name = with_new_name(target, [&](const std::string& path) {
            file = fails(Call::Open) ? -1 : open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
            return file >= 0;
        });
        if (file < 0) return {-1, {}};
        lock(file);
        if (has_name(file, name)) return {file, std::move(name)};
        close(file);  // another run has already removed it as a leftover
    }
}

bool needs_name() {
    return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
}

int create_nameless(const std::string& target, mode_t permissions) {
    if (!can_be_named(target)) return -1;
    const int file = open_nameless(folder_of(target), permissions);
    if (file >= 0) lock(file);
    return file;
}

std::string name_nameless(int file, const std::string& target) {
    const auto nameless = "/proc/self/fd/" + std::to_string(file);
    return with_new_name(target, [&](const std::string& name) {
        return linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    });
}

void remove_leftovers(const std::string& target) {
    const auto begin = std::filesystem::path(target).filename().string() + std::string(temporary_mark);
    std::error_code none;  // files that cannot be examined stay
    std::filesystem::directory_iterator entry(folder_of(target), none);
    for (; !none && entry != std::filesystem::directory_iterator(); entry.increment(none)) {
        const auto beside = entry->path();
        const auto name = beside.filename().string();
        if (!name.starts_with(begin) || name.size() != begin.size() + name_letters) continue;
        const int file = open(beside.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(beside.c_str());
        close(file);
    }
}

TemporaryFile::TemporaryFile(std::string folder) : folder_(std::move(folder)) {
    // An injected fault is the answer to the first of the two calls. EOPNOTSUPP leads to the second one.
    file_ = open_nameless(folder_, S_IRUSR | S_IWUSR);
    if (file_ < 0 && needs_name()) {
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
