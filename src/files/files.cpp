#include "files/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <utility>

#include "files/fault.hpp"
#include "files/temporary_file.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::files {

namespace {

// The temporary files that a signal must remove. A handler can reach nothing but such variables.
struct Unfinished {
    std::array<char, PATH_MAX> path;
    volatile std::sig_atomic_t is_there;
};
std::array<Unfinished, 2> unfinished{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ};

// Signals of this thread wait, so that none comes between a file and the handler that would remove it.
class SignalsHeld {
  public:
    SignalsHeld() {
        sigset_t held;
        sigemptyset(&held);
        for (const int signal : signals) sigaddset(&held, signal);
        pthread_sigmask(SIG_BLOCK, &held, &before_);
    }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;
    ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

extern "C" {  // static, or its plain name would be seen by every program that links the library
static void remove_unfinished(int signal) {
    for (const auto& file : unfinished) {
        if (file.is_there) unlink(file.path.data());
    }
    std::signal(signal, SIG_DFL);
    raise(signal);
}
}

void remove_on_signal(const std::string& path) {
    for (auto& file : unfinished) {
        if (file.is_there || path.size() >= file.path.size()) continue;
        std::copy(path.begin(), path.end() + 1, file.path.begin());
        file.is_there = 1;
        break;
    }
    for (const int signal : signals) {
        if (std::signal(signal, remove_unfinished) == SIG_IGN) std::signal(signal, SIG_IGN);  // as nohup asks
    }
}

void is_finished(const std::string& path) {
    for (auto& file : unfinished) {
        if (file.is_there && path == file.path.data()) file.is_there = 0;
    }
}

// What permissions new files lack. The call that tells it sets it, too, and a thread that makes a file in that moment
// would make one for everybody; so it is asked only where the system has no other answer (Linux before 4.7).
mode_t permissions_mask() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        unsigned mask = 0;
        if (word == "Umask:" && status >> std::oct >> mask) return mask;
    }
    const auto mask = umask(0);
    umask(mask);
    return mask;
}

std::string reason(int error) {
    return error == EBADF ? "it is closed" : std::strerror(error);
}

}  // namespace

void Bytes::resize(std::size_t size) {
    if (size > capacity_) {
        auto larger = std::make_unique_for_overwrite<std::byte[]>(size);
        std::copy_n(memory_.get(), size_, larger.get());
        memory_ = std::move(larger);
        capacity_ = size;
    }
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
        const auto place = static_cast<off_t>(offset + all.bytes);
        const auto got = pread(file, memory.data() + all.bytes, memory.size() - all.bytes, place);
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
        if (file_ > STDERR_FILENO) close(file_);  // no destructor will
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
    throw IoError("cannot " + what + " " + name() + ": " + reason(error), path_, offset_);
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

Bytes read_file(const std::string& path) {
    InputFile file(path);
    const auto memory = machine_memory();
    if (file.size().value_or(0) > memory) {
        throw IoError(file.name() + " has " + std::to_string(*file.size()) +
                          " bytes and must fit into memory, of which this machine has " + std::to_string(memory) +
                          " bytes",
                      path, 0);
    }
    // One byte more than the file has, so that its end is seen without growing.
    constexpr std::size_t least = std::size_t{1} << 20;
    Bytes bytes;
    bytes.resize(std::max(file.size() ? static_cast<std::size_t>(*file.size()) + 1 : 0, least));
    for (std::size_t size = 0;;) {
        if (size == bytes.size()) bytes.resize(2 * size);
        const auto got = file.read(bytes.span().subspan(size));
        size += got;
        if (got > 0) continue;
        bytes.resize(size);
        return bytes;
    }
}

OutputFile::OutputFile(std::string path, OnSignal on_signal) : path_(std::move(path)), target_(path_) {
    if (path_ == "-") {
        file_ = STDOUT_FILENO;
        return;
    }
    struct stat facts {};
    const bool exists = stat(path_.c_str(), &facts) == 0;
    struct stat link {};
    if (!exists && lstat(path_.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) fail("write through the link");
    if (exists && S_ISDIR(facts.st_mode)) {
        errno = EISDIR;
        fail("write");
    }
    if (exists && !S_ISREG(facts.st_mode)) {
        file_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (file_ < 0) fail("open");
        return;
    }
    if (exists) {  // through symbolic links, so that the link stays
        if (access(path_.c_str(), W_OK) != 0) fail("write");
        if (char* real = realpath(path_.c_str(), nullptr)) {
            target_ = real;
            std::free(real);  // NOLINT(cppcoreguidelines-no-malloc): realpath's own memory
        }
    }
    create_temporary(on_signal);
    fchmod(file_, exists ? facts.st_mode & 07777U : 0666U & ~permissions_mask());
}

void OutputFile::create_temporary(OnSignal on_signal) {
    detail::files::remove_leftovers(target_);
    const SignalsHeld held;
    auto [file, path] = detail::files::create_locked(target_);
    if (file < 0) fail("create");
    file_ = file;
    temporary_ = std::move(path);
    if (on_signal == OnSignal::Remove) remove_on_signal(temporary_);
}

OutputFile::~OutputFile() {
    if (!temporary_.empty()) {
        unlink(temporary_.c_str());
        is_finished(temporary_);
    }
    if (file_ > STDERR_FILENO) close(file_);
}

bool OutputFile::same_as(const OutputFile& other) const {
    const auto resolved = [](const OutputFile& file) { return std::filesystem::weakly_canonical(file.path_); };
    if (path_ == "-" || other.path_ == "-") return path_ == other.path_;
    const bool files = !temporary_.empty() && !other.temporary_.empty();  // not devices
    return files && resolved(*this) == resolved(other);
}

void OutputFile::must_be_open() const {
    if (path_ != "-") return;
    const int flags = fcntl(file_, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return;
    errno = EBADF;
    fail("write");
}

bool OutputFile::would_replace() const {
    struct stat facts {};
    return !temporary_.empty() && stat(target_.c_str(), &facts) == 0 && facts.st_size > 0;
}

bool OutputFile::is_terminal() const {
    return isatty(file_) == 1;
}

std::string OutputFile::name() const {
    return path_ == "-" ? "standard output" : "'" + path_ + "'";
}

void OutputFile::fail(const std::string& what) const {
    const int error = errno;
    throw IoError("cannot " + what + " " + name() + (written_ > 0 ? " at byte " + std::to_string(written_) : "") +
                      ": " + reason(error),
                  path_, written_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto wrote = ::write(file_, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) fail("write");
        written_ += static_cast<std::size_t>(wrote);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
}

void OutputFile::sync() {
    if (temporary_.empty()) return;
    if (detail::files::fails(detail::files::Call::Sync) || fsync(file_) != 0) fail("write");
}

void OutputFile::commit(const std::string& suffix) {
    if (temporary_.empty()) return;
    // Some file systems report a full disk only now.
    using detail::files::Call;
    if (close(std::exchange(file_, -1)) != 0 || detail::files::fails(Call::Close)) fail("write");
    if (detail::files::fails(Call::Rename) || rename(temporary_.c_str(), (target_ + suffix).c_str()) != 0)
        fail("rename to");
    is_finished(temporary_);
    temporary_.clear();
    // Once more: the system may hold the files of a program for a moment after it was killed, with writes under way.
    detail::files::remove_leftovers(target_);
}

}  // namespace quadmill::detail::files
