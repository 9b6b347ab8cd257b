#include "input/program.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cpu/stopwatch.hpp"

namespace quadmill::detail::input {
namespace {

// Starts a program.
class Start {
  public:
    Start(const std::string& directory, int output, int errors) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes_, &none);
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;
    ~Start() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    // Returns an errno.
    [[nodiscard]] int run(std::vector<std::string>& words, pid_t& process) const {
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        return posix_spawnp(&process, arguments[0], &actions_, &attributes_, arguments.data(), environ);
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

// The two ends of a pipe, closed on destruction.
struct Pipe {
    Pipe() {
        if (pipe2(ends.data(), O_CLOEXEC) != 0) error = errno;
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        for (auto& end : ends) close_end(end);
    }
    void close_writer() { close_end(ends[1]); }
    static void close_end(int& end) {
        if (end >= 0) close(end);
        end = -1;
    }
    std::array<int, 2> ends{-1, -1};
    int error = 0;
};

// Reads both until they end.
void read_all(Pipe& output, std::string& said, Pipe& errors, std::string& complained) {
    std::array<pollfd, 2> open{pollfd{output.ends[0], POLLIN, 0}, pollfd{errors.ends[0], POLLIN, 0}};
    std::array<char, 4096> part{};
    while (open[0].fd >= 0 || open[1].fd >= 0) {
        if (poll(open.data(), open.size(), -1) < 0) continue;  // a signal
        for (auto& pipe : open) {
            if (pipe.fd < 0 || pipe.revents == 0) continue;
            const auto got = read(pipe.fd, part.data(), part.size());
            if (got > 0) (&pipe == &open[0] ? said : complained).append(part.data(), static_cast<std::size_t>(got));
            if (got == 0 || (got < 0 && errno != EINTR)) pipe.fd = -1;
        }
    }
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

}  // namespace

ProgramRun run_program(std::vector<std::string> words, const std::string& directory) {
    const cpu::Stopwatch watch;
    Pipe output, errors;
    ProgramRun run{.start_error = output.error != 0 ? output.error : errors.error};
    pid_t process = 0;
    if (run.start_error == 0) run.start_error = Start(directory, output.ends[1], errors.ends[1]).run(words, process);
    if (run.start_error != 0) {
        run.failure = std::strerror(run.start_error);
        return run;
    }
    output.close_writer();
    errors.close_writer();
    read_all(output, run.output, errors, run.errors);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    run.ms = watch.ms();
    if (WIFSIGNALED(status)) {
        run.failure = fmt::format("signal {}", WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        run.failure = last_line(run.errors);
        if (run.failure.empty()) run.failure = fmt::format("status {}", WEXITSTATUS(status));
    }
    return run;
}

}  // namespace quadmill::detail::input
