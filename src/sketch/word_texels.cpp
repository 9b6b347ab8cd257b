#include "sketch/word_texels.hpp"

#include <algorithm>

#include "gl/pixels.hpp"

namespace quadmill::detail::sketch {

Grid Grid::of(std::size_t texels) {
    Grid grid;
    while ((std::size_t{1} << (2 * grid.width_log2)) < texels) ++grid.width_log2;
    grid.height = static_cast<int>((texels + (std::size_t{1} << grid.width_log2) - 1) >> grid.width_log2);
    grid.height = std::max(grid.height, 1);
    return grid;
}

void send_words(gl::Device& device, pass::Uploader& uploader, cpu::Workers& workers, const gl::Texture& texture,
                const std::function<void(std::size_t first, std::span<std::uint32_t> to)>& fill) {
    const auto row_words = static_cast<std::size_t>(texture.width()) * gl::info(texture.format()).bytes / 4;
    uploader.send(device, texture, workers, [&](std::size_t row, std::size_t rows, std::span<std::byte> memory) {
        fill(row * row_words, {reinterpret_cast<std::uint32_t*>(memory.data()), rows * row_words});
    });
}

void send_words(gl::Device& device, pass::Uploader& uploader, cpu::Workers& workers, const gl::Texture& texture,
                std::span<const std::uint32_t> words) {
    send_words(device, uploader, workers, texture, [&](std::size_t first, std::span<std::uint32_t> to) {
        const auto begin = std::min(first, words.size()), end = std::min(first + to.size(), words.size());
        std::ranges::copy(words.subspan(begin, end - begin), to.begin());
        std::ranges::fill(to.subspan(end - begin), 0U);
    });
}

}  // namespace quadmill::detail::sketch
