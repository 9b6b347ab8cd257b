#include "cpu/uncleared.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace quadmill::detail::cpu {

namespace {

constexpr std::size_t min_block = std::size_t{1} << 16U, max_block = std::size_t{1} << 22U, max_total = 2 * max_block;
constexpr std::size_t max_of_all = 4 * max_total;

std::atomic<std::size_t> kept_by_all = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// The blocks that a thread keeps. It is not a member of an allocator, because allocators are copied and compared.
struct Spares {
    struct Slot {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    std::array<Slot, 64> kept{};  // oldest first
    std::size_t count = 0, total = 0;

    Spares() = default;
    Spares(const Spares&) = delete;
    Spares& operator=(const Spares&) = delete;
    ~Spares() {
        while (count > 0) ::operator delete(remove(0));
        total = max_total;  // vectors that die after this keep nothing
    }
    void* remove(std::size_t i) {
        const auto slot = kept[i];
        std::shift_left(kept.begin() + static_cast<std::ptrdiff_t>(i),
                        kept.begin() + static_cast<std::ptrdiff_t>(count), 1);
        --count;
        total -= slot.bytes;
        kept_by_all -= slot.bytes;
        return slot.block;
    }
    // Pre: kept_by_all counts them already.
    [[nodiscard]] bool fits(std::size_t bytes) const {
        return count < kept.size() && total + bytes <= max_total && kept_by_all <= max_of_all;
    }
};
thread_local Spares spares;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

std::size_t held_bytes(std::size_t bytes) {
    const auto step = std::bit_floor(bytes) / 4;
    return bytes < min_block || bytes > max_block ? bytes : (bytes + step - 1) / step * step;
}

std::size_t kept_bytes() {
    return kept_by_all;
}

void* take_memory(std::size_t bytes) {
    bytes = held_bytes(bytes);
    if (bytes >= min_block) {
        for (std::size_t i = 0; i < spares.count; ++i) {
            if (spares.kept[i].bytes == bytes) return spares.remove(i);
        }
    }
    return ::operator new(bytes);
}

// The oldest blocks make room. Otherwise blocks of sizes that do not recur would stay until the thread ends.
void give_memory_back(void* block, std::size_t bytes) {
    bytes = held_bytes(bytes);
    if (bytes >= min_block && bytes <= max_block) {
        kept_by_all += bytes;
        while (spares.count > 0 && !spares.fits(bytes)) ::operator delete(spares.remove(0));
        if (spares.fits(bytes)) {
            spares.kept[spares.count++] = {block, bytes};
            spares.total += bytes;
            return;
        }
        kept_by_all -= bytes;
    }
    ::operator delete(block);
}

}  // namespace quadmill::detail::cpu
