// Columns in the application's buffers and textures give the same answers as columns in memory.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/host_objects.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

using Kind = QueryAggregate::Kind;

// Both tables have a column "x" with the same values.
void compare(const Context& context, const Host& host, Random& random, const Table& of_host, const Table& in_memory,
             const Value& middle) {
    QueryProcessor cpu;
    const auto wanted = column("x") >= middle;
    for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth, QueryEngine::Cpu, QueryEngine::Auto}) {
        CAPTURE(static_cast<int>(engine));
        QueryProcessor processor(context, {.engine = engine, .threads = 1});
        const Poison poison(host.gl, random.bits());
        const auto before = Snapshot::take(host.gl);
        CHECK(processor.count(of_host, wanted) == cpu.count(in_memory, wanted));
        for (const QueryAggregate& what : {QueryAggregate{.kind = Kind::Max, .column = "x"},
                                           {.kind = Kind::Quantile, .column = "x", .phi = 0.3},
                                           {.kind = Kind::Count, .column = "x"}})
            CHECK(same(processor.aggregate(of_host, what), cpu.aggregate(in_memory, what)));
        REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
    }
}

template <class T>
std::vector<T> numbers(Random& random, std::size_t n) {
    std::vector<T> values(n);
    for (auto& value : values) {
        const auto bits = random.bits();
        std::memcpy(&value, &bits, sizeof(T));  // any bits, including NaNs, -0 and denormals
        if (random.flag()) value = static_cast<T>(random.number(0, 9));
    }
    return values;
}

template <class T>
void check_buffer(const Context& context, const Host& host, Random& random, std::size_t n) {
    const auto values = numbers<T>(random, n);
    BufferKeys where{.type = Keys(std::span<T>()).type(), .offset = 4 * random.index(5)};
    where.stride = random.flag() ? 0 : sizeof(T) + 4 * random.index(3);
    const auto stride = where.stride == 0 ? sizeof(T) : where.stride;
    std::vector<std::byte> content(where.offset + n * stride);
    for (std::size_t i = 0; i < n; ++i) std::memcpy(&content[where.offset + i * stride], &values[i], sizeof(T));
    const HostBuffer buffer(host.gl, content);
    where.buffer = buffer.id();
    Table of_host, in_memory;
    of_host.add_buffer("x", where, n);
    in_memory.add("x", values);
    compare(context, host, random, of_host, in_memory, Value(std::int64_t{4}));
    CHECK((buffer.read() == content));
}

}  // namespace

TEST_CASE("a column in the application's buffer gives the same answers as one in memory") {
    const Host host(each_profile());
    const auto context = Host::adopt();
    Random random(20261130);
    for (const std::size_t n : {1U, 5U, 33U, 3000U, 17000U}) {
        CAPTURE(n);
        check_buffer<float>(context, host, random, n);
        check_buffer<double>(context, host, random, n);
        check_buffer<std::int32_t>(context, host, random, n);
        check_buffer<std::uint32_t>(context, host, random, n);
        check_buffer<std::int64_t>(context, host, random, n);
    }
}

TEST_CASE("halves in the application's buffer are a column of floats") {
    const Host host;
    const auto context = Host::adopt();
    Random random(4);
    std::vector<Half> halves(3001);
    std::vector<float> values;
    for (auto& half : halves) {
        half.bits = static_cast<std::uint16_t>(random.bits());
        values.push_back(half.value());
    }
    const HostBuffer buffer(host.gl, std::vector<std::byte>(std::as_bytes(std::span(halves)).begin(),
                                                            std::as_bytes(std::span(halves)).end()));
    Table of_host, in_memory;
    of_host.add_buffer("x", {.buffer = buffer.id(), .type = KeyType::F16, .offset = 2}, 3000);
    in_memory.add("x", std::vector<float>(values.begin() + 1, values.end()));
    compare(context, host, random, of_host, in_memory, Value(0.001));
}

TEST_CASE("more rows of a buffer than are read at a time, and new content of the buffer") {
    const Host host;
    QueryProcessor processor(Host::adopt(), {.engine = QueryEngine::Bitmap, .threads = 1});
    std::vector<std::uint32_t> values((std::size_t{1} << 20U) + 70000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
    const auto bytes = std::as_bytes(std::span(values));
    const HostBuffer buffer(host.gl, std::vector<std::byte>(bytes.begin(), bytes.end()));
    Table table;
    table.add_buffer("x", {.buffer = buffer.id(), .type = KeyType::U32}, values.size());
    CHECK(processor.count(table, column("x") < 1'100'000) == 1'100'000);
    CHECK(processor.aggregate(table, {.kind = Kind::Sum, .column = "x"}) ==
          Value(static_cast<std::int64_t>(values.size() * (values.size() - 1) / 2)));
    const std::uint32_t max = 4'000'000'000U;
    host.gl.NamedBufferSubData(buffer.id(), 4 * 1'050'000, 4, &max);
    CHECK(processor.kth_largest(table, "x", 1) == Value(std::int64_t{max}));
}

TEST_CASE("a channel of a rectangle, layer or face gives the same answers as a column in memory") {
    const Host host(each_profile());
    const auto context = Host::adopt();
    Random random(20261201);
    struct Format {
        GLenum internal, format;
        int channels;
    };
    for (const auto& [internal, format, channels] :
         {Format{GL_R32F, GL_RED, 1}, Format{GL_RGBA32F, GL_RGBA, 4}, Format{GL_RGBA16F, GL_RGBA, 4},
          Format{GL_R16F, GL_RED, 1}, Format{GL_R16, GL_RED, 1}, Format{GL_R8, GL_RED, 1}, Format{GL_RGBA8, GL_RGBA, 4},
          Format{GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, 1}, Format{GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, 1}}) {
        const auto stored = internal;
        CAPTURE(stored);
        constexpr int side = 40, layers = 6;
        const bool cube = random.flag() && format != GL_DEPTH_COMPONENT;
        GLuint id = 0;
        host.gl.CreateTextures(cube ? GL_TEXTURE_CUBE_MAP : GL_TEXTURE_2D_ARRAY, 1, &id);
        if (cube) {
            host.gl.TextureStorage2D(id, 1, internal, side, side);
        } else {
            host.gl.TextureStorage3D(id, 1, internal, side, side, layers);
        }
        std::vector<float> texels(std::size_t{side * side * layers} * static_cast<std::size_t>(channels));
        for (auto& texel : texels) texel = random.real(0, 1);
        host.gl.TextureSubImage3D(id, 0, 0, 0, 0, side, side, layers, format, GL_FLOAT, texels.data());
        host.gl.GetTextureImage(id, 0, format, GL_FLOAT, static_cast<GLsizei>(4 * texels.size()), texels.data());
        const int x = random.number(0, 9), y = random.number(0, 9), width = random.number(1, 30),
                  height = random.number(1, 30), layer = random.number(0, layers - 1),
                  channel = random.number(0, channels - 1);
        TextureRegion region{.texture = id, .layer = layer, .x = x, .y = y, .width = width, .height = height};
        auto rows = static_cast<std::size_t>(width * height);
        if (random.flag()) region.count = rows = (rows + 1) / 2;
        std::vector<float> values;
        for (std::size_t i = 0; i < rows; ++i) {
            const auto column = x + static_cast<int>(i) % width, line = y + static_cast<int>(i) / width;
            values.push_back(
                texels[static_cast<std::size_t>(((layer * side + line) * side + column) * channels + channel)]);
        }
        Table of_host, in_memory;
        of_host.add_texture("x", region, ColumnType::F32, channel);
        in_memory.add("x", values);
        CHECK(of_host.rows() == rows);
        compare(context, host, random, of_host, in_memory, Value(0.5));
        host.gl.DeleteTextures(1, &id);
        CHECK(error_names(take_errors(host.gl)) == "");
    }
}

TEST_CASE("objects that cannot be columns are refused with the reason") {
    const Host host;
    const auto context = Host::adopt();
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap}), without;
    const HostBuffer buffer(host.gl, std::vector<std::byte>(400));
    GLuint texture = 0;
    host.gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
    host.gl.TextureStorage2D(texture, 1, GL_R32I, 4, 4);
    const auto has = [&](const char* part, const std::function<void()>& call) {
        const auto message = message_of(call);
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    const auto count = [&](QueryProcessor& by, const Table& table) {
        static_cast<void>(by.count(table, column("x") > 0));
    };
    const auto of_buffer = [&](const BufferKeys& keys, std::size_t rows) {
        return Table().add_buffer("x", keys, rows);
    };
    const auto of_texture = [&](const TextureRegion& region, ColumnType type, int channel = 0) {
        return Table().add_texture("x", region, type, channel);
    };
    has("not number 0", [&] { of_buffer({}, 3); });
    const CountInBuffer counted{buffer.id(), 0};
    has("that the CPU knows", [&] { of_buffer({.buffer = buffer.id(), .counted = counted}, 3); });
    has("that the CPU knows",
        [&] { of_texture({.texture = texture, .count = 3, .counted = counted}, ColumnType::I32); });
    has("no column is", [&] { of_buffer({.buffer = buffer.id(), .type = KeyType::U64}, 3); });
    has("not number 0", [&] { of_texture({.count = 3}, ColumnType::I32); });
    has("how many rows", [&] { of_texture({.texture = texture}, ColumnType::I32); });
    has("of type F32, I32 or U32", [&] { of_texture({.texture = texture, .count = 3}, ColumnType::I64); });
    has("do not fit", [&] { count(processor, of_buffer({.buffer = buffer.id()}, 101)); });
    has("is not a buffer", [&] { count(processor, of_buffer({.buffer = 4'000'000U}, 3)); });
    has("without a context", [&] { count(without, of_buffer({.buffer = buffer.id()}, 3)); });
    has("is of another type", [&] { count(processor, of_texture({.texture = texture, .count = 3}, ColumnType::F32)); });
    has("no channel 1", [&] { count(processor, of_texture({.texture = texture, .count = 3}, ColumnType::I32, 1)); });
    has("fewer than", [&] { count(processor, of_texture({.texture = texture, .count = 17}, ColumnType::I32)); });
    host.gl.DeleteTextures(1, &texture);
    CHECK(error_names(take_errors(host.gl)) == "");
}
