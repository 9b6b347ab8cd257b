// Reads and writes of whole blocks that go on while their caller does something else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace quadmill::detail::files {

// Offsets, sizes and addresses of direct transfers are multiples of this.
inline constexpr std::size_t page = 4096;
[[nodiscard]] constexpr std::uint64_t page_up(std::uint64_t bytes) {
    return (bytes + page - 1) / page * page;
}
[[nodiscard]] constexpr std::uint64_t page_down(std::uint64_t bytes) {
    return bytes / page * page;
}

// Page-aligned memory straight from the operating system, to which it goes back at once; in large pages if there are
// any.
class Memory {
  public:
    Memory() = default;
    explicit Memory(std::size_t bytes);
    Memory(Memory&& other) noexcept { swap(other); }
    Memory& operator=(Memory&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Memory();
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    void swap(Memory& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

// Lets transfers of an open file go past the system's cache where its file system can do that.
void make_direct(int file);

// Transfers in flight at the same time. Belongs to one thread; the memory is the transfer's until next() has given it
// back or the BlockIo is destroyed, which waits.
class BlockIo {
  public:
    // Auto takes io_uring where the library was built with it and the kernel allows it, otherwise threads. Stream is
    // for what cannot be read at an offset, as a pipe: one transfer after the other, in the order in which they were
    // begun.
    enum class Method { Auto, Uring, Threads, Stream };
    // How a transfer ended: `bytes` are fewer than asked for at the end of the file, or with an error, of errno.
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
    // How many transfers are in flight.
    [[nodiscard]] std::size_t under_way() const { return under_way_; }
    // One that has ended; waits at most so long. Nothing when time is over. Pre: one is in flight.
    [[nodiscard]] std::optional<Done> next(std::chrono::milliseconds wait);
    // "io_uring", "threads" or "stream".
    [[nodiscard]] const char* name() const;

    // What does the work; one end of it is private to each method.
    struct Transfer;
    class Engine;

  private:
    void begin(Transfer transfer);
    std::unique_ptr<Engine> engine_;
    std::size_t under_way_ = 0;
};

}  // namespace quadmill::detail::files
