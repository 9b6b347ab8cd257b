#include "query/gpu/key_textures.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "query/table/key.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int usual_words = 512;  // words per row of a selection's texture

}  // namespace

bool wide(ColumnType type) {
    return key_bits(type) == 64;
}

int texels_a_word(ColumnType type) {
    return wide(type) ? 16 : 8;
}

std::uint32_t low(Key key) {
    return static_cast<std::uint32_t>(key);
}
std::uint32_t high(Key key) {
    return static_cast<std::uint32_t>(key >> 32U);
}

int number_of(ColumnType type) {
    return static_cast<int>(type == ColumnType::Text ? ColumnType::U32 : type);
}

gl::Format host_format(ColumnType type) {
    if (wide(type)) return gl::Format::Rg32ui;
    return type == ColumnType::F32 ? gl::Format::R32f : type == ColumnType::I32 ? gl::Format::R32i : gl::Format::R32ui;
}

std::string define(const char* name, int value) {
    return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

std::string keys_prelude(ColumnType type, int words) {
    return define("WORDS", words) + (wide(type) ? "#define WIDE\n" : "") + shaders::query_keys_glsl;
}

std::string values_prelude() {
    return std::string(shaders::query_doubles_glsl) + shaders::query_values_glsl;
}

pass::FoldRule key_rule(const char* name) {
    return {name, std::string(shaders::query_doubles_glsl) + shaders::query_fold_glsl};
}

Key max_number(ColumnType type) {
    if (type == ColumnType::F32) return KeyOf<float>::key(std::numeric_limits<float>::infinity());
    if (type == ColumnType::F64) return KeyOf<double>::key(std::numeric_limits<double>::infinity());
    return ~Key{0};
}

gl::Uniform key_uniform(std::string name, ColumnType type, Key key) {
    if (wide(type)) return {std::move(name), words_of(key)};
    return {std::move(name), low(key)};
}

void remove_bias(Sum& sum, ColumnType type, std::uint64_t n) {
    if (type == ColumnType::U32 || type == ColumnType::Text) return;
    sum.integer -= Integer{n} << (key_bits(type) - 1);
}

std::size_t Shape::max_rows(int max_texture_size, int texels_a_word) {
    constexpr std::size_t max = std::size_t{1} << 30U;  // shaders count rows in 32 bits
    int words = usual_words;
    while (2 * words * texels_a_word <= max_texture_size) words *= 2;
    return std::min(product(words * static_cast<int>(rows_a_word), max_texture_size), max);
}

Shape Shape::of(std::size_t rows, int max_texture_size) {
    const auto height_of = [rows](int words) {
        const auto in_row = product(words, static_cast<int>(rows_a_word));
        return std::max<std::size_t>((rows + in_row - 1) / in_row, 1);
    };
    const auto max = static_cast<std::size_t>(max_texture_size);
    int words = usual_words;
    while (height_of(words) > max) words *= 2;
    return {words, static_cast<int>(height_of(words)), rows};
}

}  // namespace quadmill::detail::query
