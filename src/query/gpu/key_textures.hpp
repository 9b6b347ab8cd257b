// Columns as textures of keys: their layout, and its uniforms for shaders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gl/pass.hpp"
#include "pass/fold.hpp"
#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

// The layout of rows in textures; keys.glsl shows it.
struct Shape {
    int words = 0, height = 0;  // of a selection
    std::size_t rows = 0;

    static constexpr std::size_t rows_a_word = 32;
    // Rows that fit into textures of that size, where a word takes that many texels of a line.
    static std::size_t most_rows(int max_texture_size, int texels_a_word);
    // Pre: at most most_rows().
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

// The text before a program that reads keys of that type.
[[nodiscard]] std::string keys_prelude(ColumnType type, int words);
// values.glsl, and what it needs.
[[nodiscard]] std::string values_prelude();
// Of fold.glsl.
[[nodiscard]] pass::FoldRule key_rule(const char* name);
// Of the host's texture of values of that type, one a texel.
[[nodiscard]] gl::Format host_format(ColumnType type);

[[nodiscard]] std::string define(const char* name, int value);
[[nodiscard]] gl::Uniform key_uniform(std::string name, ColumnType type, Key key);
// As values.glsl counts types.
[[nodiscard]] int number_of(ColumnType type);
[[nodiscard]] bool wide(ColumnType type);
// In a line of the texture.
[[nodiscard]] int texels_a_word(ColumnType type);
[[nodiscard]] std::uint32_t low(Key key);
[[nodiscard]] std::uint32_t high(Key key);
[[nodiscard]] inline glm::uvec2 words_of(Key key) {
    return {low(key), high(key)};
}

// The k of a k-th value for shaders, limited to 2^32 - 1.
[[nodiscard]] inline std::uint32_t rank_word(std::uint64_t k) {
    return static_cast<std::uint32_t>(std::min(k, std::uint64_t{0xffffffffU}));
}

// The key of +inf; of integers, the largest one.
[[nodiscard]] Key most_number(ColumnType type);
// Keys of signed numbers are too large by half of their range, and a sum of n of them by n times that.
void remove_bias(Sum& sum, ColumnType type, std::uint64_t n);

}  // namespace quadmill::detail::query
