// Uploads and read-backs, bit for bit.
#include "pass/transfer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"

using namespace quadmill;          // NOLINT(google-build-using-namespace)
using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)

namespace {

struct Transfers {
    Context context = Context::headless();
    gl::Device& device = *detail::Access::of(context);
    gl::Scope scope{device, "test"};
    cpu::Workers workers{2};
    pass::Uploader uploader;
    pass::ReadBack readback;
};

}  // namespace

TEST_CASE("Uploads are read back unchanged: every format and size, also with reused memory") {
    Transfers transfers;
    auto& [context, device, scope, workers, uploader, readback] = transfers;
    std::mt19937_64 random(1);
    for (const auto format : {gl::Format::Rgba32f, gl::Format::Rgba16f, gl::Format::Rgba32ui}) {
        for (const auto& [width, height] :
             {std::pair{1, 1}, std::pair{3, 5}, std::pair{64, 1}, std::pair{1, 64}, std::pair{1024, 1500}}) {
            const gl::Texture texture(device, format, width, height);
            std::vector<std::byte> sent(texture.bytes()), got(texture.bytes());
            for (auto& byte : sent) byte = static_cast<std::byte>(random());
            const auto row = texture.bytes() / static_cast<std::size_t>(height);
            uploader.send(device, texture, workers, [&](std::size_t first, std::size_t rows, auto memory) {
                REQUIRE(memory.size() == rows * row);
                std::memcpy(memory.data(), sent.data() + first * row, memory.size());
            });
            readback.request(device, texture);
            while (!readback.ready()) std::this_thread::yield();
            readback.copy_to(got, workers);
            CHECK(got == sent);
            const auto whole = readback.wait();
            CHECK(std::equal(whole.begin(), whole.end(), sent.begin(), sent.end()));
        }
    }
    scope.check();
}

TEST_CASE("Parts of an upload are reported in order, each when it is in flight") {
    Transfers transfers;
    auto& [context, device, scope, workers, uploader, readback] = transfers;
    const gl::Texture texture(device, gl::Format::Rgba32ui, 1024, 2500);  // 40 MB
    const std::size_t row_bytes = 1024 * 16, rows = 2400;
    const auto byte = [](std::size_t row) { return static_cast<std::byte>(row * 7); };
    std::vector<std::size_t> ends;
    const pass::Uploader::Fill fill = [&](std::size_t first, std::size_t count, auto memory) {
        for (std::size_t row = first; row < first + count; ++row)
            std::memset(memory.data() + (row - first) * row_bytes, static_cast<int>(byte(row)), row_bytes);
    };
    uploader.send(device, texture, rows, workers, fill, [&](std::size_t end) {
        ends.push_back(end);
        transfers.readback.request(transfers.device, texture);
        std::vector<std::byte> got(texture.bytes());
        transfers.readback.copy_to(got, transfers.workers);
        CHECK(got[end * row_bytes - 1] == byte(end - 1));
    });
    CHECK(ends.size() == 5);
    CHECK(std::is_sorted(ends.begin(), ends.end()));
    CHECK(ends.back() == rows);
    scope.check();
}

TEST_CASE("Copies are timed without waiting, and only those of the last upload") {
    Transfers transfers;
    auto& [context, device, scope, workers, untimed, readback] = transfers;
    pass::Uploader uploader(pass::Uploader::Clock::OfCopies);
    CHECK(uploader.copies_ms() == 0);
    const gl::Texture large(device, gl::Format::Rgba32f, 1024, 2048), small(device, gl::Format::Rgba32f, 4, 4);
    constexpr std::size_t pieces = 32;  // of 1 MB each
    constexpr auto wait = std::chrono::milliseconds(25);
    const auto send = [&](const gl::Texture& texture, std::chrono::milliseconds each) {
        const cpu::Stopwatch time;
        uploader.send(transfers.device, texture, transfers.workers, [each](std::size_t /*first*/, std::size_t /*rows*/, auto memory) {
            std::this_thread::sleep_for(each);
            std::memset(memory.data(), 1, memory.size());
        });
        gl::Fence(transfers.device).wait();
        return time.ms();
    };
    send(large, {});
    const double none = uploader.copies_ms();
    const double whole = send(large, wait);
    const double some = uploader.copies_ms();
    CHECK(none > 0);
    CHECK(some > 0);
    CHECK(whole >= pieces * 25.0 / 2);  // two threads
    CHECK(some <= whole / 2);           // mostly waiting
    // The first one may also take the time that the driver needs for a smaller buffer.
    double least = some;
    for (int i = 0; i < 5; ++i) {
        send(small, {});
        least = std::min(least, uploader.copies_ms());
    }
    CHECK(least < some);
    scope.check();
}
