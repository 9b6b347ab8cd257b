#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "query/gpu/gpu_tables.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

template <class T>
void write_keys(std::span<const T> values, const Shape& shape, std::size_t line, std::span<std::byte> memory) {
    using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr std::size_t in_texel = 16 / sizeof(T), texels = Shape::rows_a_word / in_texel;
    const auto words = static_cast<std::size_t>(shape.words), in_line = words * Shape::rows_a_word;
    const std::span to(reinterpret_cast<Word*>(memory.data()), memory.size() / sizeof(Word));
    for (std::size_t begin = 0; begin < to.size(); begin += in_line, ++line) {
        const auto from = values.subspan(std::min(line * in_line, values.size()));
        const auto full_words = std::min(from.size() / Shape::rows_a_word, words);
        if (full_words < words) std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(begin), in_line, Word{0});
        const auto write = [&](std::size_t word, std::size_t texel, std::size_t i) {
            to[begin + (texel * words + word) * in_texel + i] =
                static_cast<Word>(KeyOf<T>::key(from[word * Shape::rows_a_word + texel * in_texel + i]));
        };
        for (std::size_t texel = 0; texel < texels; ++texel) {
            for (std::size_t word = 0; word < full_words; ++word) {
                for (std::size_t i = 0; i < in_texel; ++i) write(word, texel, i);
            }
        }
        if (full_words == words) continue;
        for (std::size_t row = 0; row < from.size() - full_words * Shape::rows_a_word; ++row)
            write(full_words, row / in_texel, row % in_texel);
    }
}

}  // namespace

void write_keys(const ColumnData& data, const RowPart& part, const Shape& shape, std::size_t line,
                std::span<std::byte> memory) {
    visit_column_type(data.type, [&]<class T>(const T* /*type*/) {
        const std::span values(std::get<std::vector<T>>(data.values));
        write_keys(values.subspan(part.first, part.rows), shape, line, memory);
    });
}

}  // namespace quadmill::detail::query
