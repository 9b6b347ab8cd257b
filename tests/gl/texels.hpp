// Writes and reads texels of the library's textures, for tests.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "gl/device.hpp"
#include "gl/pixels.hpp"

namespace quadmill::test {

// Fills the texture, row by row from the lower left. Pre: a session is open.
template <class T>
void write_texels(detail::gl::Device& device, const detail::gl::Texture& texture, const std::vector<T>& values) {
    using detail::gl::PixelBuffer;
    const auto bytes = std::as_bytes(std::span(values));
    const PixelBuffer buffer(device, PixelBuffer::Direction::Upload, texture.bytes());
    std::memcpy(buffer.write(0, bytes.size()).data(), bytes.data(), std::min(bytes.size(), texture.bytes()));
    upload_rows(device, buffer, 0, texture, 0, texture.height());
    detail::gl::Fence(device).wait();
}

template <class T>
std::vector<T> read_texels(detail::gl::Device& device, const detail::gl::Texture& texture) {
    using detail::gl::PixelBuffer;
    PixelBuffer buffer(device, PixelBuffer::Direction::ReadBack, texture.bytes());
    read_rows(device, texture, 0, texture.height(), buffer, 0);
    detail::gl::Fence(device).wait();
    buffer.arrive();
    std::vector<T> values(texture.bytes() / sizeof(T));
    std::memcpy(values.data(), buffer.receive(0, texture.bytes()).data(), texture.bytes());
    return values;
}

}  // namespace quadmill::test
