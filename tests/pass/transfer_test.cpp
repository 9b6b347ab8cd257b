// Uploads and read-backs, bit for bit.
#include "pass/transfer.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "gl/device.hpp"

using namespace quadmill;          // NOLINT(google-build-using-namespace)
using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)

TEST_CASE("What is uploaded comes back, every format and size, also through memory that is used again") {
    const auto context = Context::headless();
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "test");
    cpu::Workers workers(2);
    pass::Uploader uploader;
    pass::ReadBack readback;
    std::mt19937_64 random(1);
    for (const auto format : {gl::Format::Rgba32f, gl::Format::Rgba16f, gl::Format::Rgba32ui}) {
        for (const auto& [width, height] :
             {std::pair{1, 1}, std::pair{3, 5}, std::pair{64, 1}, std::pair{1, 64}, std::pair{1024, 1500}}) {
            const gl::Texture texture(device, format, width, height);
            std::vector<std::byte> sent(texture.bytes()), got(texture.bytes());
            for (auto& byte : sent) byte = static_cast<std::byte>(random());
            uploader.send(device, texture, workers, [&](std::size_t first, std::size_t rows, auto memory) {
                const auto row = texture.bytes() / static_cast<std::size_t>(height);
                REQUIRE(memory.size() == rows * row);
                std::memcpy(memory.data(), sent.data() + first * row, memory.size());
            });
            readback.request(device, texture);
            readback.copy_to(got, workers);
            CHECK(got == sent);
            const auto whole = readback.wait();
            CHECK(std::equal(whole.begin(), whole.end(), sent.begin(), sent.end()));
        }
    }
    scope.check();
}
