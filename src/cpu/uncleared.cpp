#include "cpu/uncleared.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <utility>

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
    std::array<Slot, 16> kept{};
    std::size_t total = 0;

    Spares() = default;
    Spares(const Spares&) = delete;
    Spares& operator=(const Spares&) = delete;
    ~Spares() {
        for (auto& slot : kept) ::operator delete(std::exchange(slot, {}).block);
        kept_by_all -= total;
        total = max_total;  // vectors that die after this keep nothing
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
        for (auto& [block, size] : spares.kept) {
            if (size != bytes) continue;
            spares.total -= size;
            kept_by_all -= std::exchange(size, 0);
            return std::exchange(block, nullptr);
        }
    }
    return ::operator new(bytes);
}

void give_memory_back(void* block, std::size_t bytes) {
    bytes = held_bytes(bytes);
    if (bytes >= min_block && bytes <= max_block && spares.total + bytes <= max_total) {
        const bool fits = (kept_by_all += bytes) <= max_of_all;
        for (auto& slot : spares.kept) {
            if (!fits || slot.block) continue;
            slot = {block, bytes};
            spares.total += bytes;
            return;
        }
        kept_by_all -= bytes;
    }
    ::operator delete(block);
}

}  // namespace quadmill::detail::cpu
