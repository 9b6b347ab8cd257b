#include "cpu/thread_gain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/cut.hpp"
#include "cpu/stopwatch.hpp"

namespace quadmill::detail::cpu {

namespace {

// For fewer numbers it is not even worth measuring the costs.
constexpr std::size_t min_numbers = std::size_t{1} << 15;
// If one thread takes less time than this, it is done before another one has certainly begun. Starting a thread takes
// up to half a millisecond. On a busy processor a thread that was woken waits some milliseconds for its time slice.
constexpr double min_alone_ns = 1e6;
// Other programs on the same cores cost more than the model says.
constexpr double min_gain = 1.25;

double alone_ns(const SortCosts& costs, double n) {
    return costs.sort_ns * n * std::log2(std::max(n, 2.0));
}

double together_ns(const SortCosts& costs, double n, unsigned threads) {
    const double rounds = std::bit_width(threads - 1);
    // One thread divides all numbers, then two threads divide their halves, and so on.
    const double cut_numbers = 2 * n * (1 - 1.0 / threads);
    // Handoffs for the first and last loop over all numbers, for each round, and for sorting.
    const double handoffs = 3 + rounds, handoff_us = costs.handoff_us + costs.wake_us * (threads - 1);
    return alone_ns(costs, n / threads) + costs.cut_ns * cut_numbers + handoffs * handoff_us * 1e3;
}

template <class Number>
Number random_number(std::uint64_t& state) {
    const auto next = [&state] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return state ^ state >> 29U;
    };
    if constexpr (std::is_same_v<Number, Wide>) {
        return {.low = next(), .high = next()};
    } else {
        return static_cast<Number>(next() >> 8U);
    }
}

// The min of several times, since other programs can only make them longer.
template <class Number>
SortCosts measured_costs() {
    constexpr std::size_t n = std::size_t{1} << 12;
    constexpr int times = 3;
    std::vector<Number> numbers(n);
    std::uint64_t state = 1;
    double sort_ms = std::numeric_limits<double>::infinity(), cut_ms = sort_ms;
    for (int i = 0; i < times; ++i) {
        for (auto& number : numbers) number = random_number<Number>(state);
        const Stopwatch cut_time;
        cut(std::span(numbers), numbers[n / 2]);
        cut_ms = std::min(cut_ms, cut_time.ms());
        for (auto& number : numbers) number = random_number<Number>(state);
        const Stopwatch sort_time;
        sort_numbers(std::span(numbers));
        sort_ms = std::min(sort_ms, sort_time.ms());
    }
    return {.sort_ns = sort_ms * 1e6 / (n * std::log2(n)), .cut_ns = cut_ms * 1e6 / n};
}

}  // namespace

unsigned threads_that_gain(const SortCosts& costs, std::size_t n, unsigned threads) {
    unsigned best = 1;
    const auto numbers = static_cast<double>(n);
    double best_ns = alone_ns(costs, numbers) / min_gain;
    if (best_ns * min_gain < min_alone_ns) return 1;
    for (unsigned some = 2; some <= threads; some = some < threads ? std::min(2 * some, threads) : threads + 1) {
        const double ns = together_ns(costs, numbers, some);
        if (ns >= best_ns) continue;
        best = some;
        best_ns = ns;
    }
    return best;
}

template <class Number>
unsigned threads_that_gain_here(std::size_t n, unsigned threads) {
    if (threads < 2 || n < min_numbers) return 1;
    static const auto costs = measured_costs<Number>();
    return threads_that_gain(costs, n, threads);
}
template unsigned threads_that_gain_here<std::uint16_t>(std::size_t, unsigned);
template unsigned threads_that_gain_here<std::uint32_t>(std::size_t, unsigned);
template unsigned threads_that_gain_here<std::uint64_t>(std::size_t, unsigned);
template unsigned threads_that_gain_here<Wide>(std::size_t, unsigned);

}  // namespace quadmill::detail::cpu
