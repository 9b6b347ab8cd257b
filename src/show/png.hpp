// PNG files, and runs of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "show/canvas.hpp"

namespace quadmill::detail::show {

// The bytes of the picture as a PNG, the same for the same picture.
[[nodiscard]] std::vector<std::byte> png(const Canvas& picture);

// Writes it beside its place and renames it. Throws IoError.
void write_png(const Canvas& picture, const std::string& path);

// Width and height out of "1280x800". Throws InvalidArgument for others, and for what is no size for a picture.
struct Size {
    int width, height;
};
[[nodiscard]] Size parse_size(const std::string& text);

// What `--record` means to all demos: frames 0 to frames - 1 as DIR/0000.png and so on, making DIR where needed.
void record(const std::string& directory, std::size_t frames, const std::function<Canvas(std::size_t)>& draw);

}  // namespace quadmill::detail::show
