#include "files/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::files {

std::string reason_of(int error) {
    return error == EBADF ? "it is closed" : std::strerror(error);
}

void Bytes::resize(std::size_t size) {
    memory_.grow(size);
    size_ = size;
}

std::string input_name(const std::string& path) {
    return path == "-" ? "standard input" : "'" + path + "'";
}

std::uint64_t machine_memory() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Got read_at(int file, std::span<std::byte> memory, std::uint64_t offset) {
    Got all;
    while (all.bytes < memory.size()) {
        const auto position = static_cast<off_t>(offset + all.bytes);
        const auto got = pread(file, memory.data() + all.bytes, memory.size() - all.bytes, position);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) all.error = errno;
        if (got <= 0) break;
        all.bytes += static_cast<std::size_t>(got);
    }
    return all;
}

InputFile::InputFile(std::string path)
    : path_(std::move(path)), file_(path_ == "-" ? STDIN_FILENO : open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail("open");
    struct stat facts {};
    const bool is_known = fstat(file_, &facts) == 0;
    if (!is_known || S_ISDIR(facts.st_mode)) {
        const int error = is_known ? EISDIR : errno;
        if (file_ > STDERR_FILENO) close(file_);  // the destructor will not run
        errno = error;
        fail(is_known ? "read" : "look at");
    }
    if (S_ISREG(facts.st_mode)) size_ = static_cast<std::uint64_t>(facts.st_size);
}

InputFile::~InputFile() {
    if (file_ > STDERR_FILENO) close(file_);
}

void InputFile::fail(const std::string& what) const {
    const int error = errno;
    throw IoError("cannot " + what + " " + name() + ": " + reason_of(error), path_, offset_);
}

std::size_t InputFile::read(std::span<std::byte> memory) {
    for (;;) {
        const auto got = ::read(file_, memory.data(), memory.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("read");
        offset_ += static_cast<std::size_t>(got);
        return static_cast<std::size_t>(got);
    }
}

bool is_regular(const std::string& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

bool same_file(const std::string& input, const std::string& output) {
    struct stat in {};
    struct stat out {};
    const auto look = [](const std::string& path, int standard, struct stat& facts) {
        return (path == "-" ? fstat(standard, &facts) : stat(path.c_str(), &facts)) == 0 && S_ISREG(facts.st_mode);
    };
    if (!look(input, STDIN_FILENO, in) || !look(output, STDOUT_FILENO, out)) return false;
    const bool appends = output == "-" && (fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) != 0;
    return in.st_dev == out.st_dev && in.st_ino == out.st_ino && !appends;
}

Bytes read_file(const std::string& path) {
    InputFile file(path);
    const auto memory = machine_memory();
    if (file.size().value_or(0) > memory) {
        throw IoError(file.name() + " has " + std::to_string(*file.size()) +
                          " bytes and must fit into memory, of which this machine has " + std::to_string(memory) +
                          " bytes",
                      path, 0);
    }
    // One byte more than the file has, so that its end is found without growing.
    constexpr std::size_t min = std::size_t{1} << 20;
    Bytes bytes;
    bytes.resize(std::max(file.size() ? static_cast<std::size_t>(*file.size()) + 1 : 0, min));
    for (std::size_t size = 0;;) {
        if (size == bytes.size()) bytes.resize(2 * size);
        const auto got = file.read(bytes.span().subspan(size));
        size += got;
        if (got > 0) continue;
        bytes.resize(size);
        return bytes;
    }
}

}  // namespace quadmill::detail::files
