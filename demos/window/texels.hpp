// Uploads and reads textures with four floats per texel. Pre of both functions: a session is open.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "pass/transfer.hpp"

namespace demo {

using Texel = std::array<float, 4>;

// Pre: the number of texels is that of the texture; row after row.
inline void send_texels(quadmill::detail::gl::Device& device, const quadmill::detail::gl::Texture& texture,
                        const std::vector<Texel>& texels) {
    quadmill::detail::cpu::Workers workers(1);
    quadmill::detail::pass::Uploader().send(
        device, texture, workers, [&](std::size_t row, std::size_t /*rows*/, std::span<std::byte> memory) {
            const auto* const from = texels.data() + row * static_cast<std::size_t>(texture.width());
            std::memcpy(memory.data(), from, memory.size());
        });
}

// Waits for the GPU.
[[nodiscard]] inline std::vector<Texel> read_texels(quadmill::detail::gl::Device& device,
                                                    const quadmill::detail::gl::Texture& texture) {
    std::vector<Texel> texels(texture.bytes() / sizeof(Texel));
    quadmill::detail::pass::ReadBack back;
    back.request(device, texture);
    const auto bytes = back.wait();
    std::memcpy(texels.data(), bytes.data(), bytes.size());
    return texels;
}

}  // namespace demo
