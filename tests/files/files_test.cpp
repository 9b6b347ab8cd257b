// Inputs and outputs that are opened.
#include "files/files.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "quadmill/error.hpp"

using namespace quadmill::detail::files;

namespace {

std::ptrdiff_t open_files() {
    const std::filesystem::directory_iterator entries("/proc/self/fd");
    return std::distance(begin(entries), end(entries));
}

// A folder that is gone with it.
struct Folder {
    Folder() { std::filesystem::create_directory(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("quadmill-files-test-" + std::to_string(getpid()));
};

}  // namespace

TEST_CASE("an input that is refused stays open nowhere") {
    const Folder folder;
    const auto before = open_files();
    for (int i = 0; i < 10; ++i) {
        CHECK_THROWS_WITH_AS(InputFile(folder.path.string()), doctest::Contains("Is a directory"), quadmill::IoError);
    }
    CHECK(open_files() == before);
}
