// Values of 16, 32 or 64 bits. The width is known at run time: only loops over all values are compiled for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "cpu/uncleared.hpp"

namespace quadmill::detail::stream {

// Whether code is small rather than fast: one copy of each loop, for 64-bit values only; windows of tails are sorted.
#ifdef QUADMILL_FOR_SIZE
inline constexpr bool for_size = true;
#else
inline constexpr bool for_size = false;
#endif

// Calls `work` with an unsigned integer of that many bytes. It is for loops over all values, whose speed depends on it.
decltype(auto) with_width(std::size_t width, const auto& work) {
    if constexpr (!for_size) {
        if (width == sizeof(std::uint16_t)) return work(std::uint16_t{});
        if (width == sizeof(std::uint32_t)) return work(std::uint32_t{});
    }
    return work(std::uint64_t{});
}

template <class Bits>
[[nodiscard]] Bits bits_at(const Bits* value) {
    Bits bits{};
    std::memcpy(&bits, value, sizeof bits);
    return bits;
}

// A view of values. Their memory may be written as any type, so it is read by bits_at().
class Values {
  public:
    Values() = default;
    Values(const void* data, std::size_t size, std::size_t width)
        : data_(static_cast<const std::byte*>(data)), size_(size), width_(width) {}
    template <class T>
    Values(std::span<const T> values)  // NOLINT(google-explicit-constructor): calls make it
        : Values(values.data(), values.size(), sizeof(T)) {}
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t width() const { return width_; }  // bytes of a value
    [[nodiscard]] std::size_t bytes() const { return size_ * width_; }
    [[nodiscard]] const std::byte* data() const { return data_; }
    template <class Bits>
    [[nodiscard]] const Bits* as() const {
        return reinterpret_cast<const Bits*>(data_);
    }
    // The bits of a value, with zeros above them.
    [[nodiscard]] std::uint64_t operator[](std::size_t i) const {
        return with_width(width_, [&](auto bits) { return std::uint64_t{bits_at(as<decltype(bits)>() + i)}; });
    }
    [[nodiscard]] Values subspan(std::size_t begin, std::size_t size) const {
        return {data_ + begin * width_, size, width_};
    }
    [[nodiscard]] Values first(std::size_t count) const { return subspan(0, count); }
    [[nodiscard]] Values from(std::size_t begin) const { return subspan(begin, size_ - begin); }
    [[nodiscard]] Values last(std::size_t count) const { return from(size_ - count); }

  private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0, width_ = sizeof(std::uint64_t);
};

// Memory of values, which is not cleared first.
class Buffer {
  public:
    explicit Buffer(std::size_t width) : width_(width) {}
    explicit Buffer(const Values& values) : width_(values.width()) { append(values); }
    Buffer(Buffer&& from) noexcept : Buffer(from.width_) { swap(from); }
    Buffer& operator=(Buffer from) noexcept {
        swap(from);
        return *this;
    }
    ~Buffer() = default;
    void swap(Buffer& other) noexcept {
        memory_.swap(other.memory_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(width_, other.width_);
    }
    [[nodiscard]] Values values() const { return {memory_.data(), size_, width_}; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t bytes() const { return cpu::held_bytes(memory_.size()); }
    [[nodiscard]] std::byte* data(std::size_t i = 0) { return memory_.data() + i * width_; }
    template <class Bits>
    [[nodiscard]] std::span<Bits> as() {
        return {reinterpret_cast<Bits*>(memory_.data()), size_};
    }
    void reserve(std::size_t count) {
        if (count > capacity_) reallocate(count);
    }
    // The caller must then write the values beyond the old size: their memory is not cleared.
    void resize(std::size_t size) {
        if (size > capacity_) reallocate(std::max(size, 2 * capacity_));
        size_ = size;
    }
    void clear() { size_ = 0; }
    void shrink() {  // does nothing if there is no memory
        try {
            if (size_ < capacity_) reallocate(size_);
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
        }
    }
    void append(const Values& values) {
        if (values.empty()) return;
        resize(size_ + values.size());
        std::memcpy(data(size_ - values.size()), values.data(), values.bytes());
    }
    void erase_first(std::size_t count) {
        if (count == 0) return;
        size_ -= count;
        std::memmove(data(), data(count), size_ * width_);
    }
    // Pre: size() < capacity(); Bits has the width of the values.
    template <class Bits>
    void push(Bits bits) {
        std::memcpy(memory_.data() + size_++ * sizeof bits, &bits, sizeof bits);
    }
    // Pre: size() < capacity().
    void push_bits(std::uint64_t bits) {
        with_width(width_, [&](auto narrow) { push(static_cast<decltype(narrow)>(bits)); });
    }

  private:
    void reallocate(std::size_t capacity) {
        decltype(memory_) memory(capacity * width_);
        if (size_ > 0) std::memcpy(memory.data(), memory_.data(), size_ * width_);
        memory_.swap(memory);
        capacity_ = capacity;
    }

    std::vector<std::byte, cpu::Uncleared<std::byte>> memory_;
    std::size_t size_ = 0, capacity_ = 0, width_;
};

}  // namespace quadmill::detail::stream
