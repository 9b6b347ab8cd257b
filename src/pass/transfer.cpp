#include "pass/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "gl/pixels.hpp"

namespace quadmill::detail::pass {

namespace {

// Whole rows of a texture, cut into slices of about `wanted` bytes.
struct Slices {
    std::size_t row_bytes, height, rows_each;
    Slices(const gl::Texture& texture, std::size_t rows, std::size_t wanted)
        : row_bytes(static_cast<std::size_t>(texture.width()) * gl::info(texture.format()).bytes),
          height(rows),
          rows_each(std::clamp<std::size_t>(wanted / row_bytes, 1, std::max<std::size_t>(height, 1))) {}
    [[nodiscard]] std::size_t count() const { return (height + rows_each - 1) / rows_each; }
    [[nodiscard]] std::size_t first_row(std::size_t slice) const { return slice * rows_each; }
    [[nodiscard]] std::size_t end_row(std::size_t slice) const { return std::min((slice + 1) * rows_each, height); }
    [[nodiscard]] std::size_t offset(std::size_t slice) const { return first_row(slice) * row_bytes; }
    [[nodiscard]] std::size_t bytes(std::size_t slice) const { return (end_row(slice) - first_row(slice)) * row_bytes; }
};

}  // namespace

void grow(gl::PixelBuffer& buffer, gl::Device& device, gl::PixelBuffer::Direction direction, std::size_t bytes) {
    if (buffer.size() >= bytes) return;
    buffer = {};
    buffer = gl::PixelBuffer(device, direction, bytes);
}

void Uploader::send(gl::Device& device, const gl::Texture& texture, cpu::Workers& workers, const Fill& fill) {
    send(device, texture, static_cast<std::size_t>(texture.height()), workers, fill);
}

void Uploader::send(gl::Device& device, const gl::Texture& texture, Rows range, cpu::Workers& workers, const Fill& fill,
                    const Sent& sent) {
    const auto rows = range.count;
    const Slices slices(texture, rows, sent ? short_task_bytes : task_bytes);
    sent_.wait();
    grow(buffer_, device, gl::PixelBuffer::Direction::Upload, rows * slices.row_bytes);
    const auto fill_slice = [&, first = range.first](std::size_t i) {
        fill(first + slices.first_row(i), slices.end_row(i) - slices.first_row(i),
             buffer_.write(slices.offset(i), slices.bytes(i)));
    };
    std::size_t sent_rows = 0;
    copies_made_ = 0;
    const auto copy = [&, first = range.first](std::size_t count) {
        gl::upload_rows(device, buffer_, sent_rows * slices.row_bytes, texture, static_cast<int>(first + sent_rows),
                        static_cast<int>(count));
    };
    const auto timed_copy = [&](std::size_t count) {
        if (copies_made_ == copies_.size()) {
            constexpr auto time = gl::Query::Kind::Timestamp;
            copies_.push_back({{device, time}, {device, time}});
        }
        const auto& [begin, end] = copies_[copies_made_++];
        begin.take_time();
        copy(count);
        end.take_time();
        gl::flush(device);  // the GPU records a time when it gets the command; without a flush that could be late
    };
    const auto send_filled = [&](std::size_t i) {
        const auto filled = slices.end_row(i) - sent_rows;
        if (i + 1 < slices.count() && filled * slices.row_bytes < command_bytes) return;
        clock_ == Clock::OfCopies ? timed_copy(filled) : copy(filled);
        sent_rows += filled;
        if (!sent) return;
        sent(range.first + sent_rows);
        gl::flush(device);
    };
    workers.then_in_order(slices.count(), fill_slice, send_filled);
    sent_ = gl::Fence(device);
}

double Uploader::copies_ms() const {
    double ms = 0;
    for (const auto& [begin, end] : std::span(copies_).first(copies_made_)) ms += gl::ms_between(begin, end);
    return ms;
}

void ReadBack::request(gl::Device& device, const gl::Texture& texture) {
    const Slices slices(texture, static_cast<std::size_t>(texture.height()), command_bytes);
    bytes_ = texture.bytes();
    grow(buffer_, device, gl::PixelBuffer::Direction::ReadBack, bytes_);
    parts_.clear();
    for (std::size_t i = 0; i < slices.count(); ++i) {
        gl::read_rows(device, texture, static_cast<int>(slices.first_row(i)),
                      static_cast<int>(slices.end_row(i) - slices.first_row(i)), buffer_, slices.offset(i));
        parts_.push_back({slices.offset(i) + slices.bytes(i), gl::Fence(device)});
    }
    gl::flush(device);
}

bool ReadBack::ready() {
    return parts_.empty() || parts_.back().arrived.passed();
}

void ReadBack::wait_until(std::size_t end) {
    for (auto& part : parts_) {
        part.arrived.wait();
        if (part.end >= end) break;
    }
    buffer_.arrive();
}

std::span<const std::byte> ReadBack::wait() {
    wait_until(bytes_);
    return buffer_.receive(0, bytes_);
}

void ReadBack::copy_to(std::span<std::byte> memory, cpu::Workers& workers) {
    const auto bytes = std::min(bytes_, memory.size());
    const auto end_of = [&](std::size_t i) { return std::min((i + 1) * task_bytes, bytes); };
    workers.after_in_order((bytes + task_bytes - 1) / task_bytes, [&](std::size_t i) { wait_until(end_of(i)); },
                           [&](std::size_t i) {
                               const auto begin = i * task_bytes;
                               const auto from = buffer_.receive(begin, end_of(i) - begin);
                               std::memcpy(memory.data() + begin, from.data(), from.size());
                           });
}

}  // namespace quadmill::detail::pass
