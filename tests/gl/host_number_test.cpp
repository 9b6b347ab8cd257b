// Aggregates as handles, and as numbers in the application's buffers and textures.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "gl/host.hpp"
#include "gl/host_objects.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

using Kind = QueryAggregate::Kind;

// As documented.
template <class To>
To converted(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        using Limits = std::numeric_limits<To>;
        if constexpr (std::is_floating_point_v<To> || std::is_same_v<To, std::int64_t>) {
            return static_cast<To>(*integer);
        } else {
            return static_cast<To>(
                std::clamp<std::int64_t>(*integer, std::int64_t{Limits::min()}, std::int64_t{Limits::max()}));
        }
    }
    const auto* real = std::get_if<double>(&value);
    if constexpr (std::is_floating_point_v<To>) {
        return real ? static_cast<To>(*real) : std::numeric_limits<To>::quiet_NaN();
    } else {
        if (!real || std::isnan(*real)) return 0;
        constexpr auto min = std::numeric_limits<To>::min(), max = std::numeric_limits<To>::max();
        if (*real <= static_cast<double>(min)) return min;
        return *real >= static_cast<double>(max) ? max : static_cast<To>(*real);
    }
}

// Sums and averages may differ in their last bits; 32-bit floats may be flushed.
template <class To>
bool close(To expected, To found, double slack) {
    if constexpr (std::is_floating_point_v<To>) {
        if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
        return expected == found || std::abs(expected - found) <= slack * std::abs(expected);
    } else {
        return expected == found;
    }
}

template <class To>
void check_place(const Host& host, const std::function<void(const NumberPlace&)>& write, const Value& expected,
                 ColumnType type, GLenum internal, double slack) {
    constexpr bool wide = sizeof(To) == 8;
    const HostBuffer buffer(host.gl, std::vector<std::byte>(32, std::byte{7}));
    GLuint texture = 0;
    host.gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
    host.gl.TextureStorage2D(texture, 1, internal, 3, 2);
    write({.buffer = buffer.id(), .offset = 12, .type = type});
    write({.texture = texture, .type = type});
    const auto content = buffer.read();
    To in_buffer{}, in_texture{};
    std::memcpy(&in_buffer, &content[12], sizeof(To));
    std::array<std::uint32_t, 12> texels{};
    const auto format = wide ? GL_RG_INTEGER : internal == GL_R32F ? GL_RED : GL_RED_INTEGER;
    const auto of = internal == GL_R32F ? GL_FLOAT : internal == GL_R32I ? GL_INT : GL_UNSIGNED_INT;
    host.gl.GetTextureImage(texture, 0, static_cast<GLenum>(format), static_cast<GLenum>(of), sizeof texels,
                            texels.data());
    std::memcpy(&in_texture, texels.data(), sizeof(To));
    CAPTURE(in_buffer);
    CAPTURE(converted<To>(expected));
    CHECK(close(converted<To>(expected), in_buffer, slack));
    CHECK(close(in_buffer, in_texture, 0));
    for (std::size_t i = 0; i < content.size(); ++i)
        if (i < 12 || i >= 12 + sizeof(To)) REQUIRE(content[i] == std::byte{7});
    host.gl.DeleteTextures(1, &texture);
}

// Checks one type: all of them would take minutes.
void check_some_place(const Host& host, Random& random, const std::function<void(const NumberPlace&)>& write,
                      const Value& expected, double slack) {
    const auto type = random.index(5);
    if (type == 0) check_place<float>(host, write, expected, ColumnType::F32, GL_R32F, slack);
    if (type == 1) check_place<double>(host, write, expected, ColumnType::F64, GL_RG32UI, slack);
    if (type == 2) check_place<std::int32_t>(host, write, expected, ColumnType::I32, GL_R32I, slack);
    if (type == 3) check_place<std::uint32_t>(host, write, expected, ColumnType::U32, GL_R32UI, slack);
    if (type == 4) check_place<std::int64_t>(host, write, expected, ColumnType::I64, GL_RG32UI, slack);
}

Table mixed_table(Random& random, std::size_t n) {
    std::vector<float> f(n);
    std::vector<double> d(n);
    std::vector<std::int32_t> i(n);
    std::vector<std::uint32_t> u(n);
    std::vector<std::int64_t> l(n);
    std::vector<bool> valid(n);
    for (std::size_t row = 0; row < n; ++row) {
        f[row] = static_cast<float>(random.number(-1000, 1000)) / 8;
        d[row] = static_cast<double>(random.number(-1'000'000, 1'000'000)) * 1e4;
        i[row] = random.number(-2'000'000'000, 2'000'000'000);
        u[row] = static_cast<std::uint32_t>(random.bits());
        l[row] = static_cast<std::int64_t>(random.bits()) / 1'000'000;
        valid[row] = random.flag();
    }
    Table table;
    table.add("f", f).add("d", d, valid).add("i", i, valid).add("u", u).add("l", l);
    return table;
}

std::vector<QueryAggregate> questions(Random& random, std::size_t n) {
    std::vector<QueryAggregate> all{{}};
    for (const char* column : {"f", "d", "i", "u", "l"}) {
        for (const auto kind : {Kind::Count, Kind::Sum, Kind::Average, Kind::Min, Kind::Max, Kind::Quantile,
                                Kind::KthLargest, Kind::KthSmallest})
            all.push_back({.kind = kind,
                           .column = column,
                           .phi = random.real(0, 1),
                           .k = 1 + random.index(static_cast<GLuint>(n))});
    }
    return all;
}

}  // namespace

TEST_CASE("a pending aggregate gives its own answer, and the application's state does not change") {
    const Host host(each_profile());
    const auto context = Host::adopt();
    Random random(20261202);
    for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth, QueryEngine::Cpu}) {
        QueryProcessor processor(context, {.engine = engine, .threads = 1});
        for (const std::size_t n : {1U, 40U, 3000U}) {
            const auto table = mixed_table(random, n);
            const Poison poison(host.gl, random.bits());
            const auto before = Snapshot::take(host.gl);
            const auto some = processor.select(table, column("f") > 0),
                       none = processor.select(table, column("f") > 999);
            for (const Selection* of : {static_cast<const Selection*>(nullptr), &some, &none}) {
                std::vector<PendingValue> in_flight;
                const auto asked = questions(random, n);
                for (const auto& what : asked) in_flight.push_back(processor.aggregate_async(table, what, of));
                for (std::size_t i = asked.size(); i-- > 0;) {
                    CAPTURE(static_cast<int>(asked[i].kind));
                    CAPTURE(asked[i].column);
                    CHECK(in_flight[i].engine() == engine);
                    CHECK(in_flight[i].get() == processor.aggregate(table, asked[i], of));
                    CHECK(in_flight[i].ready());
                }
            }
            REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
        }
    }
}

TEST_CASE("an aggregate goes to the application's buffer or texture as a number of any type") {
    const Host host(each_profile());
    const auto context = Host::adopt();
    Random random(20261203);
    for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth, QueryEngine::Cpu}) {
        CAPTURE(static_cast<int>(engine));
        QueryProcessor processor(context, {.engine = engine, .threads = 1});
        for (const std::size_t n : {3U, 700U}) {
            const auto table = mixed_table(random, n);
            const auto some = processor.select(table, column("u") < 2'000'000'000),
                       none = processor.select(table, column("f") > 999);
            const std::array<const Selection*, 3> selections{nullptr, &some, &none};
            for (const auto& what : questions(random, n)) {
                CAPTURE(static_cast<int>(what.kind));
                CAPTURE(what.column);
                const auto* const of = selections.at(random.index(3));
                const auto write = [&](const NumberPlace& place) {
                    std::optional<Poison> poison;
                    if (random.number(0, 7) == 0) poison.emplace(host.gl, random.bits());
                    const auto before = poison ? Snapshot::take(host.gl) : Snapshot();
                    processor.write_aggregate(table, what, place, of);
                    if (poison) REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
                };
                check_some_place(host, random, write, processor.aggregate(table, what, of),
                                 what.kind == Kind::Average ? 1e-15 : 0);
            }
            check_some_place(
                host, random, [&](const NumberPlace& place) { processor.write_count(table, column("f") < 10, place); },
                Value(static_cast<std::int64_t>(processor.count(table, column("f") < 10))), 0);
        }
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("a sum beyond 64 bits is written as the nearest float, or as the limit of the type") {
    const Host host(each_profile());
    const auto context = Host::adopt();
    constexpr auto max = std::numeric_limits<std::int64_t>::max();
    Table table;
    table.add("l", std::vector<std::int64_t>{max, max, max}).add("s", std::vector<std::int64_t>{-max, -max, -5});
    table.add("u", std::vector<std::uint32_t>{~0U, ~0U, 1});
    const HostBuffer out(host.gl, std::vector<std::byte>(8));
    for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth, QueryEngine::Cpu}) {
        CAPTURE(static_cast<int>(engine));
        QueryProcessor processor(context, {.engine = engine, .threads = 1});
        const auto sum = [&]<class To>(const char* column, ColumnType type, To /*number*/) {
            processor.write_aggregate(table, {.kind = Kind::Sum, .column = column}, {.buffer = out.id(), .type = type});
            const auto content = out.read();
            To number{};
            std::memcpy(&number, content.data(), sizeof number);
            return number;
        };
        CHECK(sum("l", ColumnType::F32, float{}) == 0x1.8p+64F);
        CHECK(sum("l", ColumnType::F64, double{}) == 0x1.8p+64);
        CHECK(sum("s", ColumnType::F64, double{}) == -0x1p+64);
        CHECK(sum("l", ColumnType::I64, std::int64_t{}) == max);
        CHECK(sum("s", ColumnType::I64, std::int64_t{}) == std::numeric_limits<std::int64_t>::min());
        CHECK(sum("l", ColumnType::U32, std::uint32_t{}) == ~0U);
        CHECK(sum("u", ColumnType::I64, std::int64_t{}) == (std::int64_t{1} << 33) - 1);
    }
}

TEST_CASE("an aggregate for the application is neither read back nor waited for") {
    // For columns in the application's buffer: the passes are drawn, and no texel goes to the CPU.
    const Host host;
    auto context = Host::adopt();
    QueryProcessor processor(context);
    std::vector<float> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 5000);
    const auto bytes = std::as_bytes(std::span(values));
    const HostBuffer keys(host.gl, std::vector<std::byte>(bytes.begin(), bytes.end())),
        out(host.gl, std::vector<std::byte>(8));
    Table table;
    table.add_buffer("x", {.buffer = keys.id()}, values.size());
    processor.write_aggregate(table, {.kind = Kind::KthLargest, .column = "x", .k = 10}, {.buffer = out.id()});
    processor.write_count(table, column("x") < 100, {.buffer = out.id(), .offset = 4, .type = ColumnType::U32});
    std::array<std::uint32_t, 2> found{};
    std::memcpy(found.data(), out.read().data(), sizeof found);
    CHECK(std::bit_cast<float>(found[0]) == 4990);
    CHECK(found[1] == 100);
    const auto median = processor.aggregate_async(table, {.kind = Kind::Quantile, .column = "x"});
    CHECK(median.engine() != QueryEngine::Cpu);
    host.gl.Finish();
    CHECK(median.ready());
    CHECK(median.get() == Value(2499.0));
}

TEST_CASE("invalid targets of a number are refused with the reason") {
    const Host host;
    QueryProcessor processor(Host::adopt(), {.engine = QueryEngine::Bitmap}), without;
    Table table;
    table.add("x", std::vector<float>(100, 1)).add("t", std::vector<std::string>(100, "a"));
    const HostBuffer buffer(host.gl, std::vector<std::byte>(12));
    GLuint texture = 0;
    host.gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
    host.gl.TextureStorage2D(texture, 1, GL_R32F, 3, 1);
    const auto refused = [&](const char* part, QueryProcessor& by, const NumberPlace& place, const char* of = "x") {
        const auto message = message_of([&] { by.write_aggregate(table, {.kind = Kind::Max, .column = of}, place); });
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    refused("no context", without, {.buffer = buffer.id()});
    refused("either a buffer or a texture", processor, {});
    refused("either a buffer or a texture", processor, {.buffer = buffer.id(), .texture = texture});
    refused("must not be Text", processor, {.buffer = buffer.id(), .type = ColumnType::Text});
    refused("do not fit", processor, {.buffer = buffer.id(), .offset = 12});
    refused("do not fit", processor, {.buffer = buffer.id(), .offset = 8, .type = ColumnType::F64});
    refused("do not fit", processor, {.buffer = buffer.id(), .offset = 2});
    refused("is not a buffer", processor, {.buffer = 4'000'000U});
    refused("one of the internal formats", processor, {.texture = texture, .type = ColumnType::U32});
    refused("holds texts", processor, {.buffer = buffer.id()}, "t");
    refused("no column 'y'", processor, {.buffer = buffer.id()}, "y");
    host.gl.DeleteTextures(1, &texture);
    CHECK(error_names(take_errors(host.gl)) == "");
}
