// In a module there is one thread. This replaces the pool of cpu/workers.cpp, what cpu/fork.cpp knows of processes, and
// what cpu/thread_gain.cpp measures.
#include "cpu/fork.hpp"
#include "cpu/thread_gain.hpp"
#include "cpu/workers.hpp"

namespace quadmill::detail::cpu {

unsigned forks() noexcept {
    return 0;
}

unsigned threads_or_all(unsigned /*threads*/) {
    return 1;
}

template <class Number>
unsigned threads_that_gain_here(std::size_t /*n*/, unsigned /*threads*/) {
    return 1;
}
template unsigned threads_that_gain_here<std::uint16_t>(std::size_t, unsigned);
template unsigned threads_that_gain_here<std::uint32_t>(std::size_t, unsigned);
template unsigned threads_that_gain_here<std::uint64_t>(std::size_t, unsigned);
template unsigned threads_that_gain_here<Wide>(std::size_t, unsigned);

class ThreadPool {};

Workers::Workers(unsigned /*threads*/) : threads_(1) {}

void Workers::for_each(std::size_t count, const Work& work) const {
    for (std::size_t i = 0; i < count; ++i) work(i);
}

void Workers::then_in_order(std::size_t count, const Work& work, const Work& then) const {
    for (std::size_t i = 0; i < count; ++i) {
        work(i);
        then(i);
    }
}

void Workers::after_in_order(std::size_t count, const Work& first, const Work& work) const {
    then_in_order(count, first, work);
}

}  // namespace quadmill::detail::cpu
