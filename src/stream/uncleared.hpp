// Memory for vectors that are filled immediately: resize() does not clear it, and large blocks are used again.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace quadmill::detail::stream {

// Some large blocks that this thread has freed. A merge frees as much as it allocates, and fresh memory of the system,
// which clears it, takes several times as long as the merge. At most 8 MiB a thread.
class Spares {
  public:
    static constexpr std::size_t min = std::size_t{1} << 16U, max = std::size_t{1} << 22U, max_total = 2 * max;

    // The size of a block for that many bytes, so that sizes recur: up to a quarter more.
    [[nodiscard]] static std::size_t rounded(std::size_t bytes) {
        const auto step = std::bit_floor(bytes) / 4;
        return bytes < min || bytes > max ? bytes : (bytes + step - 1) / step * step;
    }
    // Null if there is none of that size.
    [[nodiscard]] void* take(std::size_t size) {
        for (auto& [block, bytes] : kept_) {
            if (bytes != size) continue;
            total_ -= std::exchange(bytes, 0);
            return std::exchange(block, nullptr);
        }
        return nullptr;
    }
    // False if the block is not kept.
    [[nodiscard]] bool keep(void* block, std::size_t size) {
        if (size < min || size > max || total_ + size > max_total) return false;
        for (auto& slot : kept_) {
            if (slot.block) continue;
            slot = {block, size};
            total_ += size;
            return true;
        }
        return false;
    }
    Spares() = default;
    Spares(const Spares&) = delete;
    Spares& operator=(const Spares&) = delete;
    ~Spares() {
        for (auto& slot : kept_) ::operator delete(slot.block);
        total_ = max_total;  // vectors that die after this keep nothing
    }

  private:
    struct Slot {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    std::array<Slot, 16> kept_{};
    std::size_t total_ = 0;
};
// A thread's own. It is not a member of an allocator, because allocators are copied and compared.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
inline thread_local Spares spares;

template <class T>
struct Uncleared : std::allocator<T> {
    template <class Other>
    struct rebind {  // NOLINT(readability-identifier-naming): as std::allocator_traits asks
        using other = Uncleared<Other>;
    };
    Uncleared() = default;
    template <class Other>
    Uncleared(const Uncleared<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor): as allocators are
    [[nodiscard]] T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_array_new_length();
        const auto size = Spares::rounded(count * sizeof(T));
        void* block = size < Spares::min ? nullptr : spares.take(size);
        return static_cast<T*>(block ? block : ::operator new(size));
    }
    void deallocate(T* block, std::size_t count) {
        const auto size = Spares::rounded(count * sizeof(T));
        if (size < Spares::min || !spares.keep(block, size)) ::operator delete(block);
    }
    template <class Made, class... From>
    void construct(Made* at, From&&... from) {
        if constexpr (sizeof...(From) == 0) {
            ::new (static_cast<void*>(at)) Made;
        } else {
            ::new (static_cast<void*>(at)) Made(std::forward<From>(from)...);
        }
    }
};

}  // namespace quadmill::detail::stream
