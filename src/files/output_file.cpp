#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>

#include "files/attributes.hpp"
#include "files/fault.hpp"
#include "files/files.hpp"
#include "files/temporary_file.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::files {

namespace {

// Temporary files that a signal must remove. A signal handler can only use such variables.
struct Unfinished {
    std::array<char, PATH_MAX> path;
    volatile std::sig_atomic_t is_there;
};
std::array<Unfinished, 2> unfinished{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ};

// Blocks signals of this thread, so that none arrives between making a file and registering it for the handler.
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

extern "C" {  // static, otherwise programs that link the library would see the plain name
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

}  // namespace

OutputFile::OutputFile(std::string path, OnSignal on_signal, Named named)
    : path_(std::move(path)), target_(path_), on_signal_(on_signal) {
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
    if (exists) {  // follows symbolic links, so that a link stays
        if (access(path_.c_str(), W_OK) != 0) fail("write");
        if (char* real = realpath(path_.c_str(), nullptr)) {
            target_ = real;
            std::free(real);  // NOLINT(cppcoreguidelines-no-malloc): realpath's own memory
        }
        names_ = facts.st_nlink;
    }
    create(named, exists ? S_IRUSR | S_IWUSR : 0666U);
    const auto lost = exists ? copy_attributes(target_, facts, file_) : std::nullopt;
    if (!lost) return;
    discard();
    throw IoError("cannot replace " + name() + " with a file that has its " + lost->what + ": " +
                      std::strerror(lost->error) + "; name another file, or remove this one first",
                  path_, 0);
}

void OutputFile::create(Named named, mode_t permissions) {
    is_regular_ = true;
    remove_leftovers(target_);
    const SignalsHeld held;
    if (named == Named::Later) file_ = create_nameless(target_, permissions);  // which makes a name for a moment
    if (file_ >= 0) return;
    if (named == Named::Later && !needs_name()) fail("create");
    std::tie(file_, temporary_) = create_locked(target_, permissions);
    if (file_ < 0) fail("create");
    if (on_signal_ == OnSignal::Remove) remove_on_signal(temporary_);
}

void OutputFile::give_name() {
    const SignalsHeld held;
    temporary_ = name_nameless(file_, target_);
    if (temporary_.empty()) fail("name");
    if (on_signal_ == OnSignal::Remove) remove_on_signal(temporary_);
}

void OutputFile::discard() {
    if (!temporary_.empty()) {
        unlink(temporary_.c_str());
        is_finished(temporary_);
    }
    if (file_ > STDERR_FILENO) close(file_);
}

OutputFile::~OutputFile() {
    discard();
}

bool OutputFile::same_as(const OutputFile& other) const {
    const auto resolved = [](const OutputFile& file) { return std::filesystem::weakly_canonical(file.path_); };
    if (path_ == "-" || other.path_ == "-") return path_ == other.path_;
    const bool files = is_regular_ && other.is_regular_;  // not devices
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
    return is_regular_ && stat(target_.c_str(), &facts) == 0 && facts.st_size > 0;
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
                      ": " + reason_of(error),
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
    if (!is_regular_) return;
    if (fails(Call::Sync) || fsync(file_) != 0) fail("write");
}

void OutputFile::commit(const std::string& suffix) {
    if (!is_regular_ || is_committed_) return;
    if (temporary_.empty()) give_name();
    // Some file systems report a full disk only at this point. The second descriptor keeps the lock; without it another
    // run would remove the file as a leftover.
    const int lock = fcntl(file_, F_DUPFD_CLOEXEC, 0);
    const bool closed = close(std::exchange(file_, lock)) == 0 && !fails(Call::Close);
    if (!closed) fail("write");
    if (fails(Call::Rename) || rename(temporary_.c_str(), (target_ + suffix).c_str()) != 0) fail("rename to");
    is_finished(temporary_);
    temporary_.clear();
    is_committed_ = true;
    if (names_ > 1 && suffix.empty()) {
        if (const auto hook = note_hook.load())
            hook(name() + " had " + std::to_string(names_) +
                 " names (hard links); the new content is under this one, the others keep the old");
    }
    // Again: for a moment the system may hold files of a program that was killed while writing.
    remove_leftovers(target_);
}

}  // namespace quadmill::detail::files
