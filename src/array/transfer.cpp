#include "array/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "gl/pixels.hpp"

namespace quadmill::detail::array {

namespace {

struct Slices {
    std::size_t row_bytes, height, rows_each;
    explicit Slices(const gl::Texture& texture)
        : row_bytes(static_cast<std::size_t>(texture.width()) * gl::info(texture.format()).bytes),
          height(static_cast<std::size_t>(texture.height())),
          rows_each(std::clamp<std::size_t>(slice_bytes / row_bytes, 1, std::max<std::size_t>(height, 1))) {}
    [[nodiscard]] std::size_t count() const { return (height + rows_each - 1) / rows_each; }
    [[nodiscard]] std::size_t first_row(std::size_t slice) const { return slice * rows_each; }
    [[nodiscard]] std::size_t rows(std::size_t slice) const { return std::min(rows_each, height - first_row(slice)); }
};

void grow(gl::PixelBuffer& buffer, gl::Device& device, gl::PixelBuffer::Direction direction, std::size_t bytes) {
    if (buffer.memory().size() >= bytes) return;
    buffer = {};
    buffer = gl::PixelBuffer(device, direction, bytes);
}

}  // namespace

void Uploader::send(gl::Device& device, const gl::Texture& texture, Workers& workers, const Fill& fill) {
    const Slices slices(texture);
    sent_.wait();
    grow(buffer_, device, gl::PixelBuffer::Direction::Upload, texture.bytes());
    const auto fill_slice = [&](std::size_t i) {
        fill(slices.first_row(i), slices.rows(i),
             buffer_.memory().subspan(slices.first_row(i) * slices.row_bytes, slices.rows(i) * slices.row_bytes));
    };
    const auto send_slice = [&](std::size_t i) {
        gl::upload_rows(device, buffer_, slices.first_row(i) * slices.row_bytes, texture,
                        static_cast<int>(slices.first_row(i)), static_cast<int>(slices.rows(i)));
    };
    workers.then_in_order(slices.count(), fill_slice, send_slice);
    sent_ = gl::Fence(device);
}

void ReadBack::request(gl::Device& device, const gl::Texture& texture) {
    const Slices slices(texture);
    bytes_ = texture.bytes();
    grow(buffer_, device, gl::PixelBuffer::Direction::ReadBack, bytes_);
    slices_.clear();
    for (std::size_t i = 0; i < slices.count(); ++i) {
        const auto offset = slices.first_row(i) * slices.row_bytes, bytes = slices.rows(i) * slices.row_bytes;
        gl::read_rows(device, texture, static_cast<int>(slices.first_row(i)), static_cast<int>(slices.rows(i)), buffer_,
                      offset);
        slices_.push_back({offset, bytes, gl::Fence(device)});
    }
    gl::flush(device);
}

std::span<const std::byte> ReadBack::wait() {
    for (auto& slice : slices_) slice.arrived.wait();
    return buffer_.memory().first(bytes_);
}

void ReadBack::copy_to(std::span<std::byte> memory, Workers& workers) {
    workers.after_in_order(
        slices_.size(), [&](std::size_t i) { slices_[i].arrived.wait(); },
        [&](std::size_t i) {
            const auto& slice = slices_[i];
            std::memcpy(memory.data() + slice.offset, buffer_.memory().data() + slice.offset, slice.bytes);
        });
}

}  // namespace quadmill::detail::array
