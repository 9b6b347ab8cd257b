// Runs of pictures in a folder, and films of them by ffmpeg, where that is installed.
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

// What `--record` means to all demos: frames 0, 1, ... as DIR/0000.png and so on, making DIR where needed, until there
// is none, and a film of them as DIR/film.mp4 and DIR/film.gif. Returns a sentence about what is there, or how to get
// a film. Throws IoError, also where ffmpeg fails: the frames are there then.
[[nodiscard]] std::string record(const Recording& recording,
                                 const std::function<std::optional<Canvas>(std::size_t frame)>& draw);

}  // namespace quadmill::detail::show
