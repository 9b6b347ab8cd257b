#include "mpi/run_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "files/files.hpp"
#include "files/temporary_file.hpp"

namespace quadmill::detail::mpi {

namespace {

constexpr const char* unfinished = ".part";

bool lock(int file) {
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

std::unique_ptr<RunFile> RunFile::create(const std::string& path) {
    const auto part = path + unfinished;
    for (;;) {
        const int file = open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
        std::unique_ptr<RunFile> run(new RunFile(part, file));
        run->target_ = path;
        run->is_kept_ = true;  // it belongs to another job
        if (file < 0 || !lock(file)) run->fail(file < 0 ? "create" : "lock", 0);
        if (!files::has_name(file, part)) continue;  // that job has just removed it, or it is complete now
        run->is_kept_ = false;
        if (ftruncate(file, 0) != 0) run->fail("write", 0);
        return run;
    }
}

std::unique_ptr<RunFile> RunFile::find(const std::string& path, std::uint64_t bytes) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return {};
    std::unique_ptr<RunFile> run(new RunFile(path, file));
    struct stat facts {};
    run->is_kept_ = true;
    if (fstat(file, &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) != bytes || !lock(file)) return {};
    return run;
}

RunFile::~RunFile() {
    if (!is_kept_) unlink(path_.c_str());
    if (file_ >= 0) close(file_);
}

void RunFile::is_whole(std::uint64_t bytes) {
    if (ftruncate(file_, static_cast<off_t>(bytes)) != 0 || fsync(file_) != 0) fail("write", bytes);
    if (rename(path_.c_str(), target_.c_str()) != 0) fail("rename", bytes);
    path_ = target_;
}

void RunFile::read(std::span<std::byte> memory, std::uint64_t offset) const {
    const auto got = files::read_at(file_, memory, offset);
    if (got.bytes == memory.size()) return;
    errno = got.error != 0 ? got.error : EIO;  // it was longer before
    fail("read", offset + got.bytes);
}

void RunFile::write(std::span<const std::byte> memory, std::uint64_t offset) const {
    while (!memory.empty()) {
        const auto put = pwrite(file_, memory.data(), memory.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail("write", offset);
        memory = memory.subspan(static_cast<std::size_t>(put));
        offset += static_cast<std::uint64_t>(put);
    }
}

void RunFile::fail(const char* what, std::uint64_t at) const {
    external::fail_io(what, place(), at, errno);
}

void remove_runs(const RunNames& names) {
    std::error_code none;  // files that cannot be examined stay
    std::filesystem::directory_iterator entry(names.folder, none);
    for (; !none && entry != std::filesystem::directory_iterator(); entry.increment(none)) {
        if (!entry->path().filename().string().starts_with(names.output)) continue;
        const int file = open(entry->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        if (lock(file)) unlink(entry->path().c_str());
        close(file);
    }
}

}  // namespace quadmill::detail::mpi
