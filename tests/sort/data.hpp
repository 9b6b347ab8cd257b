// Inputs and the reference order for tests of sorts, independent of src/sort.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/sample_keys.hpp"
#include "quadmill/sort.hpp"
#include "sanitized.hpp"

namespace quadmill::test {

inline std::uint32_t bits_of(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
inline std::uint16_t bits_of(Half value) {
    return value.bits;
}

template <class Float>
std::vector<std::uint32_t> bits_of(const std::vector<Float>& values) {
    std::vector<std::uint32_t> bits;
    for (const auto& value : values) bits.push_back(bits_of(value));
    return bits;
}

inline double number(float value) {
    return static_cast<double>(value);
}
inline double number(Half value) {
    return static_cast<double>(value.value());
}
inline bool negative(float value) {
    return std::signbit(value);
}
inline bool negative(Half value) {
    return (value.bits & 0x8000U) != 0;
}

// The order that sort.hpp specifies, in terms of numbers: NaNs last (positive ones by rising payload, then negative
// ones by falling payload), otherwise by value with -0 before +0. Descending order is the order of the negated values.
template <class Float>
auto rank(Float value, Order order) {
    const bool down = order == Order::Descending;
    const bool minus = negative(value) != down;
    const double v = down ? -number(value) : number(value);
    const bool nan = std::isnan(v);
    constexpr auto sign = sizeof(Float) == 4 ? 0x80000000U : 0x8000U;
    const auto payload = static_cast<std::int64_t>(bits_of(value) & ~sign);
    return std::tuple(nan, nan ? 0.0 : v, nan ? minus : !minus, nan ? (minus ? -payload : payload) : 0);
}

template <class Float>
void reference_sort(Float* begin, Float* end, Order order) {
    std::stable_sort(begin, end, [order](Float a, Float b) { return rank(a, order) < rank(b, order); });
}

// Those whose bits a version of OpenGL could change, where QUADMILL_API asks for one, and with sanitizers; else all.
inline const std::vector<std::string>& distributions() {
    static const std::vector<std::string> all{"uniform", "gauss",     "sorted",    "reversed", "nearly",
                                              "few",     "equal",     "any bits",  "specials", "all NaN",
                                              "zeros",   "denormals", "infinities"};
    static const std::vector<std::string> of_bits{"nearly", "any bits", "specials", "all NaN", "denormals"};
    return sanitized || std::getenv("QUADMILL_API") ? of_bits : all;  // NOLINT(concurrency-mt-unsafe): one thread
}

template <class Float>
Float as(float value) {
    if constexpr (std::is_same_v<Float, Half>) {
        return Half::from_float(value);
    } else {
        return value;
    }
}

// The distributions that benches sort, too; nothing for other names.
template <class Float>
std::optional<std::vector<Float>> sample(const std::string& name, std::size_t n, std::uint64_t seed) {
    using enum detail::cpu::Distribution;
    static const std::map<std::string, detail::cpu::Distribution> known{
        {"uniform", Uniform}, {"gauss", Gauss}, {"sorted", Sorted}, {"reversed", Reversed},
        {"nearly", Nearly},   {"few", Dup},     {"equal", Equal}};
    const auto found = known.find(name);
    if (found == known.end()) return {};
    std::vector<Float> keys(n);
    detail::cpu::KeyBuffer buffer(Keys(std::span<Float>(keys)).type(), found->second, n, seed);
    if (n > 0) std::memcpy(keys.data(), buffer.keys().data(), n * sizeof(Float));
    return keys;
}

template <class Float>
std::vector<Float> make(const std::string& name, std::size_t n, std::uint64_t seed) {
    if (auto plain = sample<Float>(name, n, seed)) return *std::move(plain);
    std::mt19937_64 random(seed);
    constexpr bool wide = sizeof(Float) == 4;
    const auto any = [&]() -> Float {
        if constexpr (wide) {
            return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        } else {
            return {static_cast<std::uint16_t>(random())};
        }
    };
    const auto from = [&](std::uint32_t b32, std::uint16_t b16) -> Float {
        if constexpr (wide) {
            static_cast<void>(b16);
            return std::bit_cast<float>(b32);
        } else {
            static_cast<void>(b32);
            return {b16};
        }
    };
    const std::vector<Float> special{from(0, 0),
                                     from(0x80000000U, 0x8000),
                                     from(1, 1),
                                     from(0x80000001U, 0x8001),
                                     from(0x007fffffU, 0x03ff),
                                     from(0x00800000U, 0x0400),
                                     from(0x80800000U, 0x8400),
                                     from(0x7f800000U, 0x7c00),
                                     from(0xff800000U, 0xfc00),
                                     from(0x7f7fffffU, 0x7bff),
                                     from(0x7fc00000U, 0x7e00),
                                     from(0xffc00001U, 0xfe01),
                                     from(0x7f800001U, 0x7c01),
                                     from(0xff800001U, 0xfc01),
                                     from(0x3f800000U, 0x3c00)};
    std::vector<Float> keys(n);
    const auto fill = [&](auto value) {
        for (auto& key : keys) key = value();
    };
    if (name == "any bits") {
        fill(any);
    } else if (name == "specials") {
        fill([&] { return special[random() % special.size()]; });
    } else if (name == "all NaN") {
        fill([&] { return special[10 + random() % 4]; });
    } else if (name == "zeros") {
        fill([&] { return special[random() % 2]; });
    } else if (name == "denormals") {
        fill([&] {
            return from(static_cast<std::uint32_t>(random()) & 0x807fffffU,
                        static_cast<std::uint16_t>(random() & 0x83ffU));
        });
    } else if (name == "infinities") {
        fill([&] { return special[7 + random() % 3]; });
    } else {  // "mixed", "mixed with specials": numbers with ties, now and then an infinity, or what has no order
        const bool specials = name == "mixed with specials";
        const auto some = sample<Float>("uniform", n, seed).value();
        std::size_t i = 0;
        fill([&] {
            const auto one = random() % 20;
            const auto number = random() % 2 == 0 ? some[i] : as<Float>(static_cast<float>(random() % 11) - 5);
            ++i;
            return one == 0 ? special[7 + random() % 2] : one == 1 && specials ? special[random() % 15] : number;
        });
    }
    return keys;
}

}  // namespace quadmill::test
