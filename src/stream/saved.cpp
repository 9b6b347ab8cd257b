#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "quadmill/error.hpp"
#include "stream/bytes.hpp"

namespace quadmill {

SavedSummary saved_summary(std::span<const std::byte> bytes) {
    return detail::stream::Reader("saved_summary", bytes).header();
}

namespace detail::stream {

void write_file(const std::string& path, std::span<const std::byte> bytes) {
    const auto part = path + ".part";
    std::ofstream file(part, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (file && std::rename(part.c_str(), path.c_str()) == 0) return;
    const std::string why = std::strerror(errno);
    static_cast<void>(std::remove(part.c_str()));
    throw IoError("save_file: cannot write '" + path + "': " + why, path, 0);
}

std::vector<std::byte> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> all{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad())
        throw IoError("load_file: cannot read '" + path + "': " + std::strerror(errno), path, 0);
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
}

}  // namespace detail::stream
}  // namespace quadmill
