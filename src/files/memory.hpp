// Memory directly from the operating system.
#pragma once

#include <cstddef>
#include <utility>

namespace quadmill::detail::files {

// Page-aligned memory, which the system gets back on destruction. Uses large pages if available.
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
    // Keeps the content, which may move but is not copied.
    void grow(std::size_t bytes);

  private:
    void swap(Memory& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace quadmill::detail::files
