// Writes series of pictures to a folder, and makes films of them with ffmpeg, if installed.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "show/canvas.hpp"

namespace quadmill::detail::show {

struct Recording {
    std::string directory;
    std::size_t frames = std::numeric_limits<std::size_t>::max();  // max number
    int rate = 8;                                                  // frames per second of the film
};

// `--record` of all demos. Writes frames 0, 1, ... as DIR/0000.png and so on, makes DIR if needed, and makes the films
// DIR/film.mp4 and DIR/film.gif. Returns a sentence about the files, or how to get a film. Throws IoError, also if
// ffmpeg fails; the frames exist then.
[[nodiscard]] std::string record(const Recording& recording,
                                 const std::function<std::optional<Canvas>(std::size_t frame)>& draw);

}  // namespace quadmill::detail::show
