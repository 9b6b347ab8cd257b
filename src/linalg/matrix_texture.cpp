#include "linalg/matrix_texture.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "quadmill/error.hpp"

namespace quadmill::detail::linalg {

namespace {

template <class Value>
auto first_not_finite(std::span<const Value> values) {
    return std::ranges::find_if(values, [](Value value) { return !std::isfinite(value); });
}

std::string what_is_at(std::size_t row, std::size_t column, double value) {
    return "row " + std::to_string(row) + ", column " + std::to_string(column) + " (from 0) is " +
           (std::isnan(value) ? "a NaN" : "infinite");
}

}  // namespace

void check_shape(const std::string& where, std::size_t values, std::size_t rows, std::size_t columns) {
    constexpr auto max = std::size_t{1} << 30U;
    const bool fits = rows == 0 || columns == 0 || (rows <= max && columns <= max / rows);
    if (fits && values == rows * columns) return;
    throw InvalidArgument(
        where + ": " + std::to_string(rows) + " rows and " + std::to_string(columns) +
        (fits ? " columns do not make " + std::to_string(values) + " values" : " columns are more than 2^30 elements"));
}

template <class Value>
void check_finite(const std::string& where, std::span<const Value> values, std::size_t columns) {
    const auto bad = first_not_finite(values);
    if (bad == values.end()) return;
    const auto index = static_cast<std::size_t>(bad - values.begin());
    throw InvalidArgument(where + ": " + what_is_at(index / columns, index % columns, *bad));
}

void check_finite(const std::string& where, std::span<const float> values, std::size_t rows, std::size_t columns) {
    const auto bad = first_not_finite(values);
    if (bad == values.end()) return;
    const auto index = static_cast<std::size_t>(bad - values.begin()), row = index / columns;
    throw InvalidArgument(where + ": matrix " + std::to_string(row / rows) + ", " +
                          what_is_at(row % rows, index % columns, *bad));
}

Size size_to_reduce(const std::string& where, std::size_t rows, std::size_t columns, Along along, std::size_t max) {
    if (rows <= max && columns <= max) return {as_int(columns), as_int(rows)};
    const auto sides = where + ": " + std::to_string(rows) + " rows and " + std::to_string(columns) + " columns ";
    if (along != Along::All)
        throw InvalidArgument(sides + "do not fit into textures, which take " + std::to_string(max) +
                              "; reduce all of it, or parts");
    const auto values = rows * columns, min = (values + max - 1) / max;
    if (min > max)
        throw InvalidArgument(sides + "are more elements than a texture holds here, " + std::to_string(max) + " x " +
                              std::to_string(max) + "; reduce parts");
    constexpr std::size_t line = 8192;  // texels per row; fewer if there are not that many
    const auto width = std::min(max, std::max(line, std::bit_ceil(min)));
    return {as_int(width), as_int((values + width - 1) / width)};
}

int as_int(std::size_t size) {
    return static_cast<int>(size);
}

template <class Word>
void upload(gl::Device& device, cpu::Workers& workers, pass::Uploader& uploader, std::span<const Word> values,
            const gl::Texture& texture) {
    const auto width = static_cast<std::size_t>(texture.width());
    uploader.send(device, texture, workers, [&](std::size_t row, std::size_t /*rows*/, std::span<std::byte> memory) {
        const auto from = std::as_bytes(values).subspan(std::min(row * width, values.size()) * sizeof(Word));
        const auto bytes = std::min(from.size(), memory.size());  // the last row may be shorter
        std::ranges::copy(from.first(bytes), memory.begin());
        std::ranges::fill(memory.subspan(bytes), std::byte{0});
    });
}

template <class Value>
void upload(gl::Device& device, cpu::Workers& workers, pass::Uploader& uploader, const ScaledMatrix<Value>& matrix,
            const gl::Texture& texture) {
    if constexpr (std::is_same_v<Value, float>) {
        if (matrix.scaling.is_identity()) return upload(device, workers, uploader, matrix.values, texture);
    }
    uploader.send(device, texture, workers, [&](std::size_t row, std::size_t rows, std::span<std::byte> memory) {
        for (std::size_t i = 0; i < rows; ++i) {
            const auto to = memory.subspan(i * matrix.columns * sizeof(float));
            matrix.for_row(row + i, [&](std::size_t j, double value) {
                const auto rounded = static_cast<float>(value);
                std::memcpy(to.data() + j * sizeof rounded, &rounded, sizeof rounded);
            });
        }
    });
}

template <class Word>
std::vector<Word> read_back(gl::Device& device, cpu::Workers& workers, const gl::Texture& texture) {
    std::vector<Word> words(texture.bytes() / sizeof(Word));
    pass::ReadBack back;
    back.request(device, texture);
    back.copy_to(std::as_writable_bytes(std::span(words)), workers);
    return words;
}

template void check_finite(const std::string&, std::span<const float>, std::size_t);
template void check_finite(const std::string&, std::span<const double>, std::size_t);
template void upload(gl::Device&, cpu::Workers&, pass::Uploader&, std::span<const float>, const gl::Texture&);
template void upload(gl::Device&, cpu::Workers&, pass::Uploader&, std::span<const std::uint32_t>, const gl::Texture&);
template void upload(gl::Device&, cpu::Workers&, pass::Uploader&, const ScaledMatrix<float>&, const gl::Texture&);
template void upload(gl::Device&, cpu::Workers&, pass::Uploader&, const ScaledMatrix<double>&, const gl::Texture&);
template std::vector<float> read_back(gl::Device&, cpu::Workers&, const gl::Texture&);
template std::vector<std::uint32_t> read_back(gl::Device&, cpu::Workers&, const gl::Texture&);
template std::vector<std::array<float, 4>> read_back(gl::Device&, cpu::Workers&, const gl::Texture&);
template std::vector<std::array<std::uint32_t, 4>> read_back(gl::Device&, cpu::Workers&, const gl::Texture&);

}  // namespace quadmill::detail::linalg
