#include "cpu/fork.hpp"

#include <pthread.h>

#include <atomic>

namespace quadmill::detail::cpu {

namespace {
std::atomic<unsigned> count{0};
// Runs before main(), or when a program loads the library.
const int registered = pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
}  // namespace

unsigned forks() noexcept {
    static_cast<void>(registered);
    return count.load(std::memory_order_relaxed);
}

}  // namespace quadmill::detail::cpu
