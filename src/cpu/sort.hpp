// Sorting in the library's total order on the CPU.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cpu/keys.hpp"
#include "cpu/numbers.hpp"
#include "cpu/workers.hpp"

namespace quadmill::detail::cpu {

// These functions throw InvalidArgument if two of the arrays that a call names share memory, if 32 bits cannot count the
// keys, if the index or the best keys do not match the number of keys, or if the ends do not ascend to keys.size().
void check_apart(const char* function, const char* names, std::span<const std::byte> a, std::span<const std::byte> b);
void check_index_range(const char* function, std::size_t n);
void check_index(const char* function, Keys keys, std::span<const std::uint32_t> index);
void check_top(const char* function, Keys keys, Keys best, std::span<const std::uint32_t> index);
void check_segments(const char* function, std::size_t keys, std::span<const std::size_t> ends);

// The window, limited to the number of keys so that sums with it cannot overflow, but at least 1. Throws
// InvalidArgument for 0.
[[nodiscard]] std::size_t checked_window(const char* function, Keys keys, std::size_t window);
[[nodiscard]] std::vector<std::size_t> ends_of_windows(std::size_t n, std::size_t window);

// Sorts values that are given by their bits.
template <class Key>
void sort_bits(std::span<typename KeyBits<Key>::Bits> bits, Order order) {
    const TotalOrder<Key> rule(order);
    for (auto& b : bits) b = rule.encode(b);
    sort_numbers(bits);
    for (auto& b : bits) b = rule.decode(b);
}

// Sorts the keys in place, on the calling thread, without allocating memory.
void sort_keys(Keys keys, Order order);
// sort_keys() on all threads, also in place: each sorts the keys between two pivots.
void sort_keys(Keys keys, Order order, const Workers& workers);
// sort_keys() on as many threads as make it faster, up to that number.
void sort_keys(Keys keys, Order order, unsigned threads);
// Sorts each segment, many at the same time.
void sort_segments(Keys keys, std::span<const std::size_t> ends, Order order, const Workers& workers);

// The indices of the first index.size() keys in order. Equal keys keep their order. `sorted`, if not empty, receives
// the keys themselves, and may be the same as `keys`. Threads as above.
void sort_places(Keys keys, Keys sorted, std::span<std::uint32_t> index, Order order, const Workers& workers);
void sort_places(Keys keys, Keys sorted, std::span<std::uint32_t> index, Order order, unsigned threads);

}  // namespace quadmill::detail::cpu
