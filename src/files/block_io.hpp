// Asynchronous reads and writes of whole blocks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "files/memory.hpp"

namespace quadmill::detail::files {

// Offsets, sizes and addresses of direct transfers are multiples of this.
inline constexpr std::size_t page = 4096;
[[nodiscard]] constexpr std::uint64_t page_up(std::uint64_t bytes) {
    return (bytes + page - 1) / page * page;
}
[[nodiscard]] constexpr std::uint64_t page_down(std::uint64_t bytes) {
    return bytes / page * page;
}

// Makes transfers of an open file bypass the system's cache, if the file system supports that.
void make_direct(int file);

// Several transfers in flight. Only one thread may use it. A transfer owns its memory until next() returns it or the
// BlockIo is destroyed, which waits.
class BlockIo {
  public:
    // Auto uses io_uring if the library was built with it and the kernel allows it, otherwise threads. Stream is for
    // inputs without offsets, such as pipes: one transfer after the other, in the order in which they were begun.
    enum class Method { Auto, Uring, Threads, Stream };
    // The result of a transfer. `bytes` are fewer than requested at the end of the file, or with an error (errno).
    struct Done {
        std::uint64_t tag;
        std::size_t bytes;
        int error;
    };

    explicit BlockIo(Method method = Method::Auto);
    BlockIo(const BlockIo&) = delete;
    BlockIo& operator=(const BlockIo&) = delete;
    ~BlockIo();

    void read(int file, std::span<std::byte> memory, std::uint64_t offset, std::uint64_t tag);
    void write(int file, std::span<const std::byte> memory, std::uint64_t offset, std::uint64_t tag);
    // Number of transfers in flight.
    [[nodiscard]] std::size_t in_flight() const { return in_flight_; }
    // A finished transfer. Waits at most that long; nothing if none has finished by then. Pre: one is in flight.
    [[nodiscard]] std::optional<Done> next(std::chrono::milliseconds wait);
    // "io_uring", "threads" or "stream".
    [[nodiscard]] const char* name() const;

    // The implementation: one class for each method.
    struct Transfer;
    class Engine;

  private:
    void begin(Transfer transfer);
    std::unique_ptr<Engine> engine_;
    std::size_t in_flight_ = 0;
};

}  // namespace quadmill::detail::files
