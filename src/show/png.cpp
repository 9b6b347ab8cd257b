#include "show/png.hpp"

#include <cstdio>

#include "files/files.hpp"
#include "quadmill/error.hpp"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace quadmill::detail::show {

std::vector<std::byte> png(const Canvas& picture) {
    std::vector<std::byte> bytes;
    const auto append = [](void* to, void* data, int size) {
        const auto* from = static_cast<const std::byte*>(data);
        auto& all = *static_cast<std::vector<std::byte>*>(to);
        all.insert(all.end(), from, from + size);
    };
    stbi_write_png_compression_level = 32;
    stbi_write_force_png_filter = 0;  // no filter: enlarged texels repeat
    stbi_write_png_to_func(append, &bytes, picture.width(), picture.height(), 3, picture.pixels().data(),
                           3 * picture.width());
    return bytes;
}

void write_png(const Canvas& picture, const std::string& path) {
    files::OutputFile file(path);
    file.write(png(picture));
    file.commit();
}

Size parse_size(const std::string& text) {
    Size size{};
    int end = 0;
    const int read = std::sscanf(text.c_str(), "%5dx%5d%n", &size.width, &size.height, &end);
    const bool plain = text.find_first_not_of("0123456789x") == std::string::npos;  // sscanf allows more
    if (read != 2 || !plain || static_cast<std::size_t>(end) != text.size() || size.width < 640 || size.height < 480 ||
        size.width > 7680 || size.height > 4320) {
        throw InvalidArgument("'" + text + "' is not a size from 640x480 to 7680x4320");
    }
    return size;
}

}  // namespace quadmill::detail::show
