#include "stream_monitor/feed.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace demo;

namespace {

struct Pipe {
    Pipe() { REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() { close_end(0), close_end(1); }
    [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends[0]); }
    void close_end(std::size_t end) {
        if (ends.at(end) >= 0) close(ends.at(end));
        ends.at(end) = -1;
    }
    std::array<int, 2> ends{};
};

void pause_for(int ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

}  // namespace

TEST_CASE("a reader whose values nobody takes blocks the writer, and loses none") {
    constexpr std::size_t n = std::size_t{1} << 22U;
    Pipe pipe;
    Reader reader(pipe.path(), {.form = Form::Raw});
    std::atomic<std::size_t> written = 0;
    std::thread writer([&] {
        std::vector<float> part(1 << 14U);
        while (written < n) {
            for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<float>(written + i);
            const auto bytes = static_cast<ssize_t>(part.size() * sizeof(float));
            if (write(pipe.ends[1], part.data(), static_cast<std::size_t>(bytes)) != bytes) break;
            written += part.size();
        }
        pipe.close_end(1);
    });
    for (std::size_t before = 1; before != written; pause_for(100)) before = written;
    CHECK(written < n / 2);
    std::size_t taken = 0, wrong = 0;
    for (bool wait = false; !reader.ended(); wait = !wait) {
        const auto values = reader.take(77777, wait ? Feed::Wait::Yes : Feed::Wait::No);
        for (const auto value : values) wrong += value != static_cast<float>(taken++);
    }
    writer.join();
    CHECK(taken == n);
    CHECK(wrong == 0);
}

TEST_CASE("a reader ends immediately, even while it waits for values or for room") {
    Pipe silent;
    { const Reader reader(silent.path(), {.form = Form::Raw}); }
    const auto path = (std::filesystem::temp_directory_path() / ("feed_test." + std::to_string(getpid()))).string();
    {
        const std::vector<float> many((std::size_t{1} << 20U) + 100000);
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(many.data()),
                   static_cast<std::streamsize>(many.size() * sizeof(float)));
        const Reader reader(path, {.form = Form::Raw});
        pause_for(50);
    }
    std::filesystem::remove(path);
}
