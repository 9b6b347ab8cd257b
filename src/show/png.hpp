// PNG files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "show/canvas.hpp"

namespace quadmill::detail::show {

// The picture as PNG bytes, which are the same for the same picture.
[[nodiscard]] std::vector<std::byte> png(const Canvas& picture);

// Throws IoError.
void write_png(const Canvas& picture, const std::string& path);

// Width and height from "1280x800". Throws InvalidArgument for other texts and sizes.
struct Size {
    int width, height;
};
[[nodiscard]] Size parse_size(const std::string& text);

}  // namespace quadmill::detail::show
