// The examples of external.hpp, unchanged.
#include <doctest/doctest.h>
#include <quadmill/external.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace quadmill;  // NOLINT(google-build-using-namespace)

namespace {

// A folder that is the current one during a test.
class Folder {
  public:
    Folder() : before_(std::filesystem::current_path()) {
        auto name = (std::filesystem::temp_directory_path() / "quadmill-examples-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
        std::filesystem::current_path(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(path_);
    }

  private:
    std::filesystem::path before_, path_;
};

std::string record(char first) {
    return first + std::string(98, '.') + '\n';
}

}  // namespace

TEST_CASE("external.hpp: a file") {
    const Folder folder;
    std::ofstream("in.dat") << record('c') << record('a') << record('b');
    sort_file("in.dat", "out.dat", {.format = {.bytes = 100}, .memory = 256 << 20});
    std::ifstream out("out.dat");
    const std::string content{std::istreambuf_iterator(out), {}};
    CHECK(content == record('a') + record('b') + record('c'));
}

TEST_CASE("external.hpp: records pushed and pulled") {
    const std::vector<std::uint64_t> numbers{3, 1, 2};
    std::vector<std::uint64_t> sorted(2), all;
    const auto take = [&](std::size_t bytes) {
        all.insert(all.end(), sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(bytes / 8));
    };
    ExternalSorter sorter({.format = {.bytes = 8, .key = {{.type = FieldType::U64}}}});
    sorter.push(std::as_bytes(std::span(numbers)));  // any number of times
    while (const auto n = sorter.pull(std::as_writable_bytes(std::span(sorted)))) take(n);
    CHECK(all == std::vector<std::uint64_t>{1, 2, 3});
}
