// Selected rows in textures and buffers of the application.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"

using namespace quadmill;
using namespace quadmill::test;

TEST_CASE("a selection goes to the application's texture as bits, and to its buffers as rows and their count") {
    const Host host(each_profile());
    const auto context = Host::adopt();
    Random random(20261125);
    for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth, QueryEngine::Cpu}) {
        QueryProcessor processor(context, {.engine = engine, .threads = 1});
        for (const std::size_t n : {0U, 1U, 31U, 32U, 33U, 1000U, 33000U, 70001U}) {
            CAPTURE(static_cast<int>(engine));
            CAPTURE(n);
            std::vector<float> values(n);
            for (auto& value : values) value = random.real(0, 1);
            Table table;
            table.add("x", values);
            for (const float min : {-1.0F, 0.7F, 2.0F}) {
                const auto words = (n + 31) / 32;
                constexpr int width = 37;
                const auto height = static_cast<int>(words / width) + 2;
                std::vector<std::uint32_t> texels(static_cast<std::size_t>(width * height), 0xabcdefU), rows(n + 5, 99),
                    command{7, 7, 7, 7};
                GLuint texture = 0;
                std::array<GLuint, 2> buffers{};
                host.gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
                host.gl.TextureStorage2D(texture, 1, GL_R32UI, width, height);
                host.gl.TextureSubImage2D(texture, 0, 0, 0, width, height, GL_RED_INTEGER, GL_UNSIGNED_INT,
                                          texels.data());
                host.gl.CreateBuffers(2, buffers.data());
                host.gl.NamedBufferStorage(buffers[0], static_cast<GLsizeiptr>(rows.size() * 4), rows.data(), 0);
                host.gl.NamedBufferStorage(buffers[1], static_cast<GLsizeiptr>(command.size() * 4), command.data(), 0);
                {
                    const Poison poison(host.gl, random.bits());
                    const auto before = Snapshot::take(host.gl);
                    const auto chosen = processor.select(table, column("x") > double{min});
                    chosen.write_bits(texture);
                    chosen.write_rows(buffers[0], 8, buffers[1], 4);
                    chosen.write_count(buffers[1], 12);
                    REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
                }
                auto expected_texels = texels, expected_rows = rows, expected_command = command;
                std::fill_n(expected_texels.begin(), words, 0);
                std::fill_n(expected_rows.begin() + 2, n, 0);
                std::uint32_t count = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    if (!(values[i] > min)) continue;
                    expected_texels[i / 32] |= 1U << (i % 32);
                    expected_rows[2 + count++] = static_cast<std::uint32_t>(i);
                }
                expected_command[1] = expected_command[3] = count;
                host.gl.GetTextureImage(texture, 0, GL_RED_INTEGER, GL_UNSIGNED_INT,
                                        static_cast<GLsizei>(texels.size() * 4), texels.data());
                host.gl.GetNamedBufferSubData(buffers[0], 0, static_cast<GLsizeiptr>(rows.size() * 4), rows.data());
                host.gl.GetNamedBufferSubData(buffers[1], 0, 16, command.data());
                CHECK((texels == expected_texels));
                CHECK((rows == expected_rows));
                CHECK(command == expected_command);
                host.gl.DeleteTextures(1, &texture);
                host.gl.DeleteBuffers(2, buffers.data());
                CHECK(error_names(take_errors(host.gl)) == "");
            }
        }
    }
}

TEST_CASE("invalid targets of a selection are refused with the reason") {
    const Host host;
    QueryProcessor processor(Host::adopt(), {.engine = QueryEngine::Bitmap}), without;
    Table table;
    table.add("x", std::vector<float>(100, 1));
    const auto chosen = processor.select(table, column("x") > 0.0),
               elsewhere = without.select(table, column("x") > 0.0);
    GLuint texture = 0, buffer = 0;
    host.gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
    host.gl.TextureStorage2D(texture, 1, GL_R32UI, 3, 1);
    host.gl.CreateBuffers(1, &buffer);
    host.gl.NamedBufferStorage(buffer, 404, nullptr, 0);
    const auto has = [&](const char* part, const std::function<void()>& call) {
        const auto message = message_of(call);
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    has("no context", [&] { elsewhere.write_bits(texture); });
    has("take 4 texels", [&] { chosen.write_bits(texture); });
    has("is not a texture", [&] { chosen.write_bits(0); });
    has("is not a buffer", [&] { chosen.write_count(0); });
    has("do not fit", [&] { chosen.write_count(buffer, 402); });
    has("do not fit", [&] { chosen.write_count(buffer, 404); });
    has("do not fit", [&] { chosen.write_rows(buffer, 8, buffer, 0); });
    has("over their count", [&] { chosen.write_rows(buffer, 0, buffer, 396); });
    CHECK_NOTHROW(chosen.write_rows(buffer, 4, buffer, 0));
    // If level 0 is hidden, bits are written if its storage is immutable; otherwise drivers may lose them.
    const std::vector<std::uint32_t> before(4 * 2, 77);
    std::vector<std::uint32_t> after(before.size());
    for (const bool is_mutable : {false, true}) {
        CAPTURE(is_mutable);
        GLuint hidden = 0;
        host.gl.GenTextures(1, &hidden);
        host.gl.BindTexture(GL_TEXTURE_2D, hidden);
        if (is_mutable) {
            host.gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32UI, 4, 2, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, nullptr);
            host.gl.TexImage2D(GL_TEXTURE_2D, 1, GL_R32UI, 2, 1, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, nullptr);
        } else {
            host.gl.TexStorage2D(GL_TEXTURE_2D, 2, GL_R32UI, 4, 2);
        }
        host.gl.BindTexture(GL_TEXTURE_2D, 0);
        host.gl.TextureSubImage2D(hidden, 0, 0, 0, 4, 2, GL_RED_INTEGER, GL_UNSIGNED_INT, before.data());
        host.gl.TextureParameteri(hidden, GL_TEXTURE_BASE_LEVEL, 1);
        auto expected = before;
        if (is_mutable) {
            has("leaves level 0 out", [&] { chosen.write_bits(hidden); });
        } else {
            chosen.write_bits(hidden);
            std::fill_n(expected.begin(), 3, ~0U);
            expected[3] = 0xfU;  // 100 rows
        }
        host.gl.TextureParameteri(hidden, GL_TEXTURE_BASE_LEVEL, 0);
        host.gl.GetTextureImage(hidden, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, static_cast<GLsizei>(after.size() * 4),
                                after.data());
        for (std::size_t i = 0; i < after.size(); ++i) {
            CAPTURE(i);
            CHECK(after[i] == expected[i]);
        }
        host.gl.DeleteTextures(1, &hidden);
    }
    host.gl.DeleteTextures(1, &texture);
    host.gl.DeleteBuffers(1, &buffer);
    CHECK(error_names(take_errors(host.gl)) == "");
}
