#include "show/film.hpp"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "input/program.hpp"
#include "quadmill/error.hpp"
#include "show/png.hpp"

namespace quadmill::detail::show {

namespace {

namespace fs = std::filesystem;

struct Form {
    const char* name;
    std::vector<std::string> options;
};

// Players take only even sizes and colours of half resolution. Browsers' GIFs have few colours, but the pictures have
// few, too.
const std::array forms{
    Form{"film.mp4", {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart"}},
    Form{"film.gif",
         {"-vf", "split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=none:diff_mode=rectangle",
          "-final_delay", "200"}}};

enum class Films { Made, NoFfmpeg };

// Writes each film under another name and renames it. Films of an earlier recording are removed.
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
        const auto outcome = input::run_program(words, recording.directory);
        if (outcome.start_error == ENOENT) return Films::NoFfmpeg;
        std::error_code not_renamed;
        if (outcome.failure.empty()) fs::rename(directory / beside, directory / name, not_renamed);
        const auto failure = not_renamed ? not_renamed.message() : outcome.failure;
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
