#include "show/film.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "show/png.hpp"

namespace quadmill::detail::show {

namespace {

namespace fs = std::filesystem;

struct Form {
    const char* name;
    std::vector<std::string> options;
};

// Players take only even sizes and halved colours; browsers take few colours, of which there are few.
const std::array forms{
    Form{"film.mp4", {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart"}},
    Form{"film.gif",
         {"-vf", "split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=none:diff_mode=rectangle",
          "-final_delay", "200"}}};

// How a program is started: in a folder, without input, with what it says on standard error in a pipe. No signal is
// held back, whatever this thread does with them.
class Start {
  public:
    Start(const std::string& directory, int errors) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
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
    [[nodiscard]] int run(std::vector<std::string> words, pid_t& process) const {
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        return posix_spawnp(&process, arguments[0], &actions_, &attributes_, arguments.data(), environ);
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

std::string read_all(int pipe) {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = read(pipe, part.data(), part.size())) != 0;) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

struct Outcome {
    int start_error = 0;  // an errno: it did not start
    std::string failure;  // none: all went well
};

Outcome run_in(const std::string& directory, std::vector<std::string> words) {
    std::array<int, 2> errors{};
    if (pipe2(errors.data(), O_CLOEXEC) != 0) return {errno, {}};
    pid_t process = 0;
    const int start_error = Start(directory, errors[1]).run(std::move(words), process);
    close(errors[1]);
    const auto said = start_error == 0 ? last_line(read_all(errors[0])) : "";
    close(errors[0]);
    if (start_error != 0) return {start_error, std::strerror(start_error)};
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) return {0, fmt::format("signal {}", WTERMSIG(status))};
    if (WEXITSTATUS(status) == 0) return {};
    return {0, said.empty() ? fmt::format("status {}", WEXITSTATUS(status)) : said};
}

enum class Films { Made, NoFfmpeg };

// Writes each film beside its place and renames it; of an earlier recording nothing is left.
Films make_films(const Recording& recording, std::size_t frames) {
    const fs::path directory = recording.directory;
    std::error_code ignored;
    for (const auto& form : forms) fs::remove(directory / form.name, ignored);
    for (const auto& [name, options] : forms) {
        const std::string beside = std::string("part.") + name;
        std::vector<std::string> words{"ffmpeg",
                                       "-nostdin",
                                       "-y",
                                       "-loglevel",
                                       "error",
                                       "-framerate",
                                       std::to_string(recording.rate),
                                       "-i",
                                       "%04d.png",
                                       "-frames:v",
                                       std::to_string(frames)};
        words.insert(words.end(), options.begin(), options.end());
        words.push_back(beside);
        const auto outcome = run_in(recording.directory, words);
        if (outcome.start_error == ENOENT) return Films::NoFfmpeg;
        if (outcome.failure.empty()) fs::rename(directory / beside, directory / name, ignored);
        const auto failure = outcome.failure.empty() && ignored ? ignored.message() : outcome.failure;
        if (failure.empty()) continue;
        fs::remove(directory / beside, ignored);
        const auto path = (directory / name).string();
        throw IoError(fmt::format("{}: ffmpeg failed: {}; the {} frames are there", path, failure, frames), path, 0);
    }
    return Films::Made;
}

}  // namespace

std::string record(const Recording& recording, const std::function<std::optional<Canvas>(std::size_t)>& draw) {
    const auto& directory = recording.directory;
    std::error_code failed;
    fs::create_directories(directory, failed);
    if (failed) throw IoError(directory + ": cannot be made: " + failed.message(), directory, 0);
    std::size_t frames = 0;
    for (; frames < recording.frames; ++frames) {
        const auto picture = draw(frames);
        if (!picture) break;
        write_png(*picture, (fs::path(directory) / fmt::format("{:04}.png", frames)).string());
    }
    const auto what = fmt::format("{} frames in {}", frames, directory);
    if (frames == 0) return what;
    if (make_films(recording, frames) == Films::Made) return what + ", as a film in film.mp4 and film.gif there";
    return fmt::format(
        "{}; a film of them, once ffmpeg is installed (apt-get install ffmpeg): ffmpeg -framerate {} -i {}/%04d.png "
        "-pix_fmt yuv420p film.mp4",
        what, recording.rate, directory);
}

}  // namespace quadmill::detail::show
