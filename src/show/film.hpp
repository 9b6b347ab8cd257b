// Series of pictures in a folder, and films of them with ffmpeg, if installed.
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
    std::size_t frames = std::numeric_limits<std::size_t>::max();  // at most
    int rate = 8;                                                  // frames of the film a second
};

// `--record` of all demos: writes frames 0, 1, ... as DIR/0000.png and so on, makes DIR if needed, and a film of them
// as DIR/film.mp4 and DIR/film.gif. Returns a sentence about the files, or how to get a film. Throws IoError, also if
// ffmpeg fails; the frames exist then.
[[nodiscard]] std::string record(const Recording& recording,
                                 const std::function<std::optional<Canvas>(std::size_t frame)>& draw);

}  // namespace quadmill::detail::show
