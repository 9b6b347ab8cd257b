// Memory for vectors that are filled immediately: resize() does not clear it, and large blocks are used again.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <new>

namespace quadmill::detail::cpu {

// Memory for that many bytes, and back. Blocks from 64 KiB to 4 MiB are used again by the same thread: a merge frees as
// much as it allocates, and fresh memory of the system, which clears it, takes several times as long as the merge. At
// most 8 MiB a thread are kept, and 32 MiB in all; the oldest blocks make room for others. A block is up to a quarter
// larger than asked for, so that sizes recur.
[[nodiscard]] void* take_memory(std::size_t bytes);
void give_memory_back(void* block, std::size_t bytes);
[[nodiscard]] std::size_t held_bytes(std::size_t bytes);  // of the block for that many
[[nodiscard]] std::size_t kept_bytes();                   // by all threads

// Returns about how many bytes a deque has allocated. libstdc++ stores its elements in blocks of 512 bytes, or of one
// element if that is larger, and keeps an array of pointers to the blocks.
template <class T>
[[nodiscard]] std::size_t memory_of(const std::deque<T>& of) {
    constexpr std::size_t each = sizeof(T) < 512 ? 512 / sizeof(T) : 1;
    return (of.size() / each + 1) * (each * sizeof(T) + 4 * sizeof(void*)) + 8 * sizeof(void*);
}

template <class T>
struct Uncleared : std::allocator<T> {
    Uncleared() = default;
    template <class Other>
    Uncleared(const Uncleared<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor): as allocators are
    [[nodiscard]] T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(take_memory(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t count) { give_memory_back(block, count * sizeof(T)); }
    template <class Made>
    void construct(Made* at) {
        ::new (static_cast<void*>(at)) Made;
    }
};

}  // namespace quadmill::detail::cpu
