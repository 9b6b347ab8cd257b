#include "sort/cpu.hpp"

#include "quadmill/error.hpp"
#include "sort/clock.hpp"

namespace quadmill {

namespace {
template <class Float>
SortStats by_std_sort(std::span<Float> keys, std::size_t window, Order order) {
    if (window == 0) throw InvalidArgument("sort_windows_on_cpu: a window must hold at least 1 key, not 0");
    const detail::sort::Stopwatch total;
    std::vector<typename detail::sort::KeyBits<Float>::Bits> scratch;
    detail::sort::sort_windows_by_std(keys, window, order, scratch);
    SortStats stats{.n = keys.size(), .engine = Engine::Cpu};
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
}
}  // namespace

SortStats sort_on_cpu(std::span<float> keys, Order order) {
    return by_std_sort(keys, std::max<std::size_t>(keys.size(), 1), order);
}
SortStats sort_on_cpu(std::span<Half> keys, Order order) {
    return by_std_sort(keys, std::max<std::size_t>(keys.size(), 1), order);
}
SortStats sort_windows_on_cpu(std::span<float> keys, std::size_t window, Order order) {
    return by_std_sort(keys, window, order);
}
SortStats sort_windows_on_cpu(std::span<Half> keys, std::size_t window, Order order) {
    return by_std_sort(keys, window, order);
}

}  // namespace quadmill
