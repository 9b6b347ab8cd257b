// Columns as textures of keys: their layout, and the uniforms that describe it to shaders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gl/pass.hpp"
#include "pass/fold.hpp"
#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

// The layout of rows in textures, as keys.glsl describes it.
struct Shape {
    int words = 0, height = 0;  // size of a selection's texture
    std::size_t rows = 0;

    static constexpr std::size_t rows_a_word = 32;
    // Max rows in textures of that size, if a word takes that many texels of a line.
    static std::size_t max_rows(int max_texture_size, int texels_a_word);
    // Pre: at most max_rows().
    static Shape of(std::size_t rows, int max_texture_size);
    [[nodiscard]] std::size_t words_in_use() const { return (rows + rows_a_word - 1) / rows_a_word; }
    bool operator==(const Shape&) const = default;
};

// a / b, rounded up.
[[nodiscard]] inline std::size_t up(std::size_t a, std::size_t b) {
    return (a + b - 1) / b;
}
[[nodiscard]] inline std::size_t product(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

// The GLSL that goes before a program that reads keys of that type.
[[nodiscard]] std::string keys_prelude(ColumnType type, int words);
// values.glsl, with the file that it needs before it.
[[nodiscard]] std::string values_prelude();
// A rule of query/fold.glsl.
[[nodiscard]] pass::FoldRule key_rule(const char* name);
// Format of the application's texture with one value of that type per texel.
[[nodiscard]] gl::Format host_format(ColumnType type);

[[nodiscard]] std::string define(const char* name, int value);
[[nodiscard]] gl::Uniform key_uniform(std::string name, ColumnType type, Key key);
// The number of the type in values.glsl.
[[nodiscard]] int number_of(ColumnType type);
[[nodiscard]] bool wide(ColumnType type);
// Texels per word of rows, in a line of the texture.
[[nodiscard]] int texels_a_word(ColumnType type);
[[nodiscard]] std::uint32_t low(Key key);
[[nodiscard]] std::uint32_t high(Key key);
[[nodiscard]] inline glm::uvec2 words_of(Key key) {
    return {low(key), high(key)};
}

[[nodiscard]] inline glm::uvec4 words_of(Integer value) {
    const auto word = [value](int i) { return static_cast<unsigned>(value >> (32 * i)); };
    return {word(0), word(1), word(2), word(3)};
}

// The k of a k-th value for shaders, limited to 2^32 - 1.
[[nodiscard]] inline std::uint32_t rank_word(std::uint64_t k) {
    return static_cast<std::uint32_t>(std::min(k, std::uint64_t{0xffffffffU}));
}

// The key of +inf; for integers, of the largest value.
[[nodiscard]] Key max_number(ColumnType type);
// Keys of signed numbers are larger than the numbers by half of the range. So a sum of n keys is too large by n times
// that; this subtracts it.
void remove_bias(Sum& sum, ColumnType type, std::uint64_t n);

}  // namespace quadmill::detail::query
