// The byte order of record keys is the order of the fields' values.
#include "external/records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cpu/keys.hpp"

using namespace quadmill;
using detail::external::FixedKeys;

namespace {

template <class Number>
std::vector<Number> numbers() {
    using Limits = std::numeric_limits<Number>;
    std::vector<Number> values{Limits::max(), Limits::lowest(), Limits::min()};
    for (const int value : {0, 1, 2, 127, 128, 255, 256, 65535, -1, -128, -129, -256, -257}) {
        if (std::is_signed_v<Number> || value >= 0) values.push_back(static_cast<Number>(value));
    }
    if constexpr (std::is_floating_point_v<Number>) {
        values.insert(values.end(), {-Number(0), Limits::infinity(), -Limits::infinity(), Limits::denorm_min(),
                                     Limits::quiet_NaN(), -Limits::quiet_NaN()});
    }
    return values;
}

template <>
std::vector<Half> numbers<Half>() {
    std::vector<Half> values;
    for (std::uint32_t bits = 0; bits < 65536; bits += 251) values.push_back({static_cast<std::uint16_t>(bits)});
    return values;
}

template <class Number>
void check_type(FieldType type, Order order, bool turned = false) {
    const FixedKeys keys("test", {.bytes = 12, .key = {{.offset = 3, .bytes = 0, .type = type, .order = order}}});
    REQUIRE(keys.key_bytes() == sizeof(Number));
    const auto key_of = [&](Number value) {
        std::array<std::byte, 12> record{};
        std::array<std::byte, sizeof(Number)> key{};
        std::memcpy(record.data() + 3, &value, sizeof value);
        if (turned) std::reverse(record.begin() + 3, record.begin() + 3 + sizeof value);
        keys.make(record.data(), key.data());
        return key;
    };
    const detail::cpu::KeyLess<Number> less{detail::cpu::TotalOrder<Number>(order)};
    for (const auto a : numbers<Number>()) {
        for (const auto b : numbers<Number>()) {
            const auto x = key_of(a), y = key_of(b);
            CHECK((std::memcmp(x.data(), y.data(), x.size()) < 0) == less(a, b));
            if constexpr (!std::is_same_v<Number, Half>) {  // the library's order is that of the values
                if (a < b) CHECK(less(a, b) == (order == Order::Ascending));
            }
        }
    }
}

}  // namespace

TEST_CASE("keys of numbers compare as the numbers do") {
    for (const auto order : {Order::Ascending, Order::Descending}) {
        check_type<std::uint32_t>(FieldType::U32, order);
        check_type<std::int32_t>(FieldType::I32, order);
        check_type<std::uint64_t>(FieldType::U64, order);
        check_type<std::int64_t>(FieldType::I64, order);
        check_type<float>(FieldType::F32, order);
        check_type<double>(FieldType::F64, order);
        check_type<std::uint8_t>(FieldType::U8, order);
        check_type<std::int8_t>(FieldType::I8, order);
        check_type<std::uint16_t>(FieldType::U16, order);
        check_type<std::int16_t>(FieldType::I16, order);
        check_type<Half>(FieldType::F16, order);
        check_type<std::int16_t>(FieldType::I16Be, order, true);
        check_type<std::int32_t>(FieldType::I32Be, order, true);
        check_type<float>(FieldType::F32Be, order, true);
        check_type<std::int64_t>(FieldType::I64Be, order, true);
        check_type<double>(FieldType::F64Be, order, true);
    }
}

TEST_CASE("fields follow each other, with descending bytes inverted") {
    const FixedKeys keys("test", {.bytes = 8,
                                  .key = {{.offset = 6, .bytes = 2},
                                          {.offset = 0, .bytes = 3, .order = Order::Descending},
                                          {.offset = 2, .type = FieldType::U32}}});
    const std::array<unsigned char, 8> record{1, 2, 3, 4, 5, 6, 7, 8};
    std::array<unsigned char, 9> key{};
    keys.make(reinterpret_cast<const std::byte*>(record.data()), reinterpret_cast<std::byte*>(key.data()));
    CHECK(key == std::array<unsigned char, 9>{7, 8, 254, 253, 252, 6, 5, 4, 3});
    CHECK_FALSE(keys.is_verbatim());
}

TEST_CASE("keys of many records, of each length") {
    std::mt19937 random(1);
    for (std::size_t bytes = 1; bytes <= 255; bytes += bytes < 20 ? 1 : 47) {
        const std::size_t record = bytes + 9, n = 5;
        const FixedKeys keys("test", {.bytes = record, .key = {{.offset = 4, .bytes = bytes}}});
        CHECK(keys.is_verbatim());
        std::vector<std::byte> records(n * record), made(n * bytes);
        for (auto& b : records) b = static_cast<std::byte>(random());
        keys.make(records.data(), n, made.data());
        for (std::size_t i = 0; i < n; ++i)
            CHECK(std::memcmp(made.data() + i * bytes, records.data() + i * record + 4, bytes) == 0);
    }
}

TEST_CASE("invalid formats are refused") {
    const auto refused = [](const RecordFormat& format, const char* words) {
        CHECK_THROWS_WITH_AS(FixedKeys("sort_file", format), doctest::Contains(words), InvalidArgument);
    };
    refused({.bytes = 0}, "1 to 65535 bytes, not 0");
    refused({.bytes = 65536}, "not 65536");
    refused({.key = {}}, "must be a key field");
    refused({.key = {{.offset = 91}}}, "10 bytes at offset 91 is not within a record of 100 bytes");
    refused({.key = {{.offset = 97, .type = FieldType::U32}}}, "4 bytes at offset 97");
    refused({.key = {{.bytes = 0}}}, "at least 1 byte");
    refused({.bytes = 300, .key = {{.bytes = 256}}}, "at most 255 bytes, not 256");
    refused({.key = {{.offset = std::numeric_limits<std::size_t>::max(), .bytes = 2}}}, "is not within");
}

TEST_CASE("coded lines compare with memcmp like lines without their ends, and decode again") {
    std::vector<std::string> lines;
    const std::array<char, 7> letters{'\0', '\1', '\t', '\v', 'a', '\x7f', '\xff'};
    for (const char a : letters) {
        lines.emplace_back(1, a);
        for (const char b : letters) lines.push_back({a, b});
    }
    lines.emplace_back();
    const auto coded = [](std::string line) {
        line += '\n';
        detail::external::code_lines(std::as_writable_bytes(std::span(line)));
        return line;
    };
    for (const auto& a : lines) {
        for (const auto& b : lines) {
            const auto x = coded(a), y = coded(b);
            CHECK((std::memcmp(x.data(), y.data(), std::min(x.size(), y.size())) < 0) == (a < b));
        }
    }
    std::string all(256, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i);
    auto changed = all;
    const auto bytes = std::as_writable_bytes(std::span(changed));
    detail::external::code_lines(bytes);
    CHECK(changed != all);
    detail::external::decode_lines(bytes);
    CHECK(changed == all);
}
