#include "gl/system.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>

namespace quadmill::detail::gl {

std::optional<std::size_t> free_memory() {
    std::ifstream lines("/proc/meminfo");
    for (std::string word; lines >> word;) {
        std::size_t kilobytes = 0;
        if (word == "MemAvailable:" && lines >> kilobytes) return kilobytes << 10U;
    }
    return {};
}

void keep_source(const char* name, const char* suffix, const std::string& text) {
    const char* const folder = std::getenv("QUADMILL_SHADERS");
    if (!folder) return;
    std::string file(name);
    std::ranges::replace(file, '/', '_');
    file.append(".").append(std::to_string(std::hash<std::string>()(text))).append(suffix);
    std::ofstream(std::string(folder) + "/" + file) << text;
}

}  // namespace quadmill::detail::gl
