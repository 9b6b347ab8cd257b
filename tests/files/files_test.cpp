// Opening inputs and outputs.
#include "files/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "files/fault.hpp"
#include "quadmill/error.hpp"

using namespace quadmill::detail::files;

namespace {

std::ptrdiff_t open_files() {
    const std::filesystem::directory_iterator entries("/proc/self/fd");
    return std::distance(begin(entries), end(entries));
}

// A folder that is removed at the end.
struct Folder {
    Folder() { std::filesystem::create_directory(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("quadmill-files-test-" + std::to_string(getpid()));
};

mode_t mode_of(const std::filesystem::path& path) {
    struct stat facts {};
    REQUIRE(stat(path.c_str(), &facts) == 0);
    return facts.st_mode & 07777U;
}

}  // namespace

TEST_CASE("a refused input does not stay open") {
    const Folder folder;
    const auto before = open_files();
    for (int i = 0; i < 10; ++i) {
        CHECK_THROWS_WITH_AS(InputFile(folder.path.string()), doctest::Contains("Is a directory"), quadmill::IoError);
    }
    CHECK(open_files() == before);
}

TEST_CASE("an output has the permissions of new files, and so have files that others make in the meantime") {
    const Folder folder;
    const auto before = umask(027);
    std::atomic<bool> is_over = false;
    int open_to_all = 0;
    std::thread other([&] {
        const auto path = folder.path / "other";
        while (!is_over) {
            close(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
            struct stat facts {};
            if (stat(path.c_str(), &facts) == 0 && (facts.st_mode & 0777U) != 0640) ++open_to_all;
            unlink(path.c_str());
        }
    });
    for (int i = 0; i < 2000; ++i) {
        const OutputFile output((folder.path / "output").string(), OutputFile::OnSignal::LeaveAlone);
    }
    is_over = true;
    other.join();
    CHECK(open_to_all == 0);
    OutputFile output((folder.path / "output").string(), OutputFile::OnSignal::LeaveAlone);
    output.commit();
    CHECK(mode_of(folder.path / "output") == 0640);
    umask(before);
}

TEST_CASE("a read at an offset reads to the end, and reports errors") {
    const Folder folder;
    const auto path = folder.path / "ten";
    OutputFile output(path.string(), OutputFile::OnSignal::LeaveAlone);
    output.write(std::as_bytes(std::span("0123456789", 10)));
    output.commit();
    const InputFile file(path.string());
    std::array<char, 8> memory{};
    auto got = read_at(file.descriptor(), std::as_writable_bytes(std::span(memory)), 1);
    CHECK(got.bytes == memory.size());
    CHECK(got.error == 0);
    CHECK(std::string_view(memory.data(), memory.size()) == "12345678");
    got = read_at(file.descriptor(), std::as_writable_bytes(std::span(memory)), 7);
    CHECK(got.bytes == 3);
    CHECK(got.error == 0);
    CHECK(std::string_view(memory.data(), 3) == "789");
    got = read_at(-1, std::as_writable_bytes(std::span(memory)), 0);
    CHECK(got.bytes == 0);
    CHECK(got.error == EBADF);
}

TEST_CASE("an unfinished output has a name only if the system needs one") {
    const Folder folder;
    const auto path = folder.path / "output";
    const auto names = [&] {
        const std::filesystem::directory_iterator entries(folder.path);
        return std::distance(begin(entries), end(entries));
    };
    {
        const OutputFile output(path.string(), OutputFile::OnSignal::LeaveAlone);
        CHECK(names() == 0);
    }
    fault_hook = [](Call call) {
        static int opened = 0;
        return Fault{.error = call == Call::Open && opened++ == 0 ? EOPNOTSUPP : 0};
    };
    OutputFile output(path.string(), OutputFile::OnSignal::LeaveAlone);
    fault_hook = nullptr;
    CHECK(names() == 1);
    CHECK(output.temporary().starts_with(path.string() + ".part-quadmill-"));
    output.commit();
    CHECK(names() == 1);
    CHECK(std::filesystem::exists(path));
}
