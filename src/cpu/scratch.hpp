// Memory that is written before it is read.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>

namespace quadmill::detail::cpu {

// The memory is not cleared. It grows and is kept.
class Scratch {
  public:
    template <class T>
    [[nodiscard]] std::span<T> of(std::size_t n) {
        if (n > size_ / sizeof(T)) {
            memory_.reset();
            size_ = 0;
            if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
            memory_ = std::make_unique_for_overwrite<std::byte[]>(n * sizeof(T));
            size_ = n * sizeof(T);
        }
        return {reinterpret_cast<T*>(memory_.get()), n};
    }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_ = 0;
};

}  // namespace quadmill::detail::cpu
