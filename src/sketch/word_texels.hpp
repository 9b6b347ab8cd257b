// Lists of words in textures.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "cpu/workers.hpp"
#include "gl/objects.hpp"
#include "pass/transfer.hpp"

namespace quadmill::detail::sketch {

// Texels of a list, in rows whose length is a power of two.
struct Grid {
    int width_log2 = 0, height = 1;
    static Grid of(std::size_t texels);
    [[nodiscard]] int width() const { return 1 << width_log2; }
};

// Uploads the words of all texels, row after row.
void send_words(gl::Device& device, pass::Uploader& uploader, cpu::Workers& workers, const gl::Texture& texture,
                const std::function<void(std::size_t first, std::span<std::uint32_t> to)>& fill);
// Uploads a list of words, followed by zeros up to the end of the last row.
void send_words(gl::Device& device, pass::Uploader& uploader, cpu::Workers& workers, const gl::Texture& texture,
                std::span<const std::uint32_t> words);

}  // namespace quadmill::detail::sketch
