// Moves texels between the CPU and textures through persistently mapped pixel buffers, in slices of whole rows: while
// one slice is in flight, the next ones are filled or copied out. GL never reads or writes the caller's memory.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "gl/objects.hpp"

namespace quadmill::detail::pass {

// task_bytes: what one thread fills or copies at a time. short_task_bytes: the same for the first and the last piece,
// for which a caller waits. command_bytes: the min of one GL command. On NVIDIA a command costs about 15 us of CPU
// time, in which 0.8 MB can be moved.
inline constexpr std::size_t task_bytes = std::size_t{1} << 20, short_task_bytes = std::size_t{1} << 18,
                             command_bytes = std::size_t{8} << 20;

// Replaces the buffer by a larger one if it has fewer bytes.
void grow(gl::PixelBuffer& buffer, gl::Device& device, gl::PixelBuffer::Direction direction, std::size_t bytes);

// Calls take(part, row, piece) on several threads for `pieces` pieces of each row of all parts, which were read into
// the buffer. Takes each part once it has arrived. Waits for the GPU.
template <class Part, class Take>
void take_rows(gl::PixelBuffer& buffer, std::vector<Part>& parts, cpu::Workers& workers, std::size_t pieces,
               const Take& take) {
    struct Piece {
        Part* part;
        std::size_t row, index;
    };
    std::vector<Piece> all;
    for (auto& part : parts) {
        for (std::size_t i = 0; i < part.rows * pieces; ++i) all.push_back({&part, i / pieces, i % pieces});
    }
    workers.after_in_order(
        all.size(),
        [&](std::size_t i) {
            all[i].part->arrived.wait();
            buffer.arrive();
        },
        [&](std::size_t i) { take(*all[i].part, all[i].row, all[i].index); });
}

// Staging memory for uploads; grows to the largest texture sent. With two, one can be filled while the other is in
// flight.
class Uploader {
  public:
    Uploader() = default;
    // OfCopies measures its copies with the GPU's clock, for copies_ms().
    enum class Clock { None, OfCopies };
    explicit Uploader(Clock clock) : clock_(clock) {}

    // Fills the memory of rows [first_row, first_row + rows) of the texture, tightly packed; called by several threads.
    using Fill = std::function<void(std::size_t first_row, std::size_t rows, std::span<std::byte> memory)>;

    // Rows [first, first + count) of a texture.
    struct Rows {
        Rows(std::size_t first_row, std::size_t rows) : first(first_row), count(rows) {}
        Rows(std::size_t rows) : count(rows) {}  // NOLINT(google-explicit-constructor): a number means the first rows
        std::size_t first = 0, count;
    };
    // Called with the end of the rows that were sent so far, so that passes can read them while the next rows are
    // filled.
    using Sent = std::function<void(std::size_t end)>;
    // Fills and sends all rows, or the given rows, through staging memory of that size. Returns when all rows are
    // filled and the upload is in flight. First waits for the last upload from this memory. Pre: a session is open.
    void send(gl::Device& device, const gl::Texture& texture, cpu::Workers& workers, const Fill& fill);
    void send(gl::Device& device, const gl::Texture& texture, Rows rows, cpu::Workers& workers, const Fill& fill,
              const Sent& sent = {});

    // Milliseconds of the last upload's copies, without the time that the GPU waited for them. Waits for the GPU. Pre:
    // Clock::OfCopies.
    [[nodiscard]] double copies_ms() const;

  private:
    Clock clock_ = Clock::None;
    gl::PixelBuffer buffer_;
    gl::Fence sent_;
    struct Copy {
        gl::Query begin, end;
    };
    std::vector<Copy> copies_;     // kept for later uploads
    std::size_t copies_made_ = 0;  // of the last upload
};

// Memory into which textures are read back; grows to the largest texture.
class ReadBack {
  public:
    // Requests all texels of the texture without waiting. Pre: a session is open.
    void request(gl::Device& device, const gl::Texture& texture);
    // Whether all texels have arrived, so that wait() returns immediately.
    [[nodiscard]] bool ready();
    // All texels, row by row; waits for the GPU. Valid until the next request.
    [[nodiscard]] std::span<const std::byte> wait();
    // Copies texels until the memory is full or no texels are left, each slice when it has arrived. Waits for the GPU.
    void copy_to(std::span<std::byte> memory, cpu::Workers& workers);

  private:
    struct Part {
        std::size_t end;  // in bytes
        gl::Fence arrived;
    };
    void wait_until(std::size_t end);

    gl::PixelBuffer buffer_;
    std::vector<Part> parts_;
    std::size_t bytes_ = 0;
};

}  // namespace quadmill::detail::pass
