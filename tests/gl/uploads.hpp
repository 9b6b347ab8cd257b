// Textures of many formats for tests of keys: a number of 0 to 99 for each channel of each texel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gl/api.hpp"

namespace quadmill::test {

// A format of an application's texture, and how its texels are uploaded.
struct Uploaded {
    const char* name;
    GLenum internal, format, type;
    int channels;
};
inline constexpr std::array<Uploaded, 31> uploaded_formats{
    {{"RG8", GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2},
     {"RG16", GL_RG16, GL_RG, GL_UNSIGNED_SHORT, 2},
     {"RG16F", GL_RG16F, GL_RG, GL_FLOAT, 2},
     {"RG32F", GL_RG32F, GL_RG, GL_FLOAT, 2},
     {"RGB8", GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3},
     {"RGB16F", GL_RGB16F, GL_RGB, GL_FLOAT, 3},
     {"RGB32F", GL_RGB32F, GL_RGB, GL_FLOAT, 3},
     {"R11F_G11F_B10F", GL_R11F_G11F_B10F, GL_RGB, GL_FLOAT, 3},
     {"RGBA16", GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 4},
     {"SRGB8", GL_SRGB8, GL_RGB, GL_UNSIGNED_BYTE, 3},
     {"SRGB8_ALPHA8", GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
     {"R8I", GL_R8I, GL_RED_INTEGER, GL_BYTE, 1},
     {"R8UI", GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1},
     {"R16I", GL_R16I, GL_RED_INTEGER, GL_SHORT, 1},
     {"R16UI", GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 1},
     {"RG8I", GL_RG8I, GL_RG_INTEGER, GL_BYTE, 2},
     {"RG8UI", GL_RG8UI, GL_RG_INTEGER, GL_UNSIGNED_BYTE, 2},
     {"RG16I", GL_RG16I, GL_RG_INTEGER, GL_SHORT, 2},
     {"RG16UI", GL_RG16UI, GL_RG_INTEGER, GL_UNSIGNED_SHORT, 2},
     {"RG32I", GL_RG32I, GL_RG_INTEGER, GL_INT, 2},
     {"RG32UI", GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 2},
     {"RGBA8I", GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE, 4},
     {"RGBA8UI", GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4},
     {"RGBA16I", GL_RGBA16I, GL_RGBA_INTEGER, GL_SHORT, 4},
     {"RGBA16UI", GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 4},
     {"RGBA32I", GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, 4},
     {"RGBA32UI", GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 4},
     {"RGB10_A2", GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4},
     {"RGBA8", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
     {"R32I", GL_R32I, GL_RED_INTEGER, GL_INT, 1},
     {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_FLOAT, 4}}};

inline bool is_float(const Uploaded& format) {
    return format.type == GL_FLOAT;
}
inline bool is_integer(const Uploaded& format) {
    return format.format == GL_RED_INTEGER || format.format == GL_RG_INTEGER || format.format == GL_RGBA_INTEGER;
}
inline bool is_signed(const Uploaded& format) {
    return format.type == GL_BYTE || format.type == GL_SHORT || format.type == GL_INT;
}
inline bool is_packed(const Uploaded& format) {
    return format.type == GL_UNSIGNED_INT_2_10_10_10_REV;
}

// The number that a channel of the texture then has; an integer in formats of fixed point.
inline double stored(const Uploaded& format, int number, int channel) {
    if (is_packed(format) && channel == 3) return 0;  // it has two bits
    switch (format.type) {
        case GL_FLOAT:  // R11F_G11F_B10F has no sign, and six bits for blue
            return format.internal == GL_R11F_G11F_B10F ? number / 2 : (number - 50) * 0.5;
        case GL_BYTE:
            return number - 50;
        case GL_SHORT:
            return (number - 50) * 600;
        case GL_INT:
            return (number - 50) * 40'000'000.0;
        case GL_UNSIGNED_SHORT:
            return number * 600;
        case GL_UNSIGNED_INT:
            return number * 40'000'000.0;
        default:
            return number * 2;
    }
}
template <class To>
void append_as(std::vector<std::byte>& bytes, double value) {
    const auto one = static_cast<To>(value);
    const auto at = bytes.size();
    bytes.resize(at + sizeof one);
    std::memcpy(&bytes[at], &one, sizeof one);
}
inline void append(std::vector<std::byte>& bytes, const Uploaded& format, int number) {
    const auto value = stored(format, number, 0);
    switch (format.type) {
        case GL_FLOAT:
            return append_as<float>(bytes, value);
        case GL_BYTE:
            return append_as<std::int8_t>(bytes, value);
        case GL_SHORT:
            return append_as<std::int16_t>(bytes, value);
        case GL_INT:
            return append_as<std::int32_t>(bytes, value);
        case GL_UNSIGNED_SHORT:
            return append_as<std::uint16_t>(bytes, value);
        case GL_UNSIGNED_INT:
            return append_as<std::uint32_t>(bytes, value);
        default:
            return append_as<std::uint8_t>(bytes, value);
    }
}
inline bool is_in_es(const Uploaded& format) {
    return is_integer(format) || format.type != GL_UNSIGNED_SHORT;
}

// The texels, without gaps.
inline std::vector<std::byte> uploaded(const Uploaded& format, const std::vector<int>& numbers) {
    std::vector<std::byte> bytes;
    if (is_packed(format)) {
        for (std::size_t i = 0; i < numbers.size(); i += 4)
            append_as<std::uint32_t>(bytes, 2 * (numbers[i] + 1024 * (numbers[i + 1] + 1024 * numbers[i + 2])));
    } else {
        for (const int number : numbers) append(bytes, format, number);
    }
    return bytes;
}

}  // namespace quadmill::test
