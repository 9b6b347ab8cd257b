#include "sort/cpu.hpp"

#include "quadmill/error.hpp"
#include "sort/clock.hpp"

namespace quadmill {

SortStats sort_on_cpu(Keys keys, Order order) {
    return sort_windows_on_cpu(keys, std::max<std::size_t>(keys.size(), 1), order);
}

SortStats sort_windows_on_cpu(Keys keys, std::size_t window, Order order) {
    if (window == 0) throw InvalidArgument("sort_windows_on_cpu: a window must hold at least 1 key, not 0");
    const detail::sort::Stopwatch total;
    SortStats stats{.n = keys.size(), .engine = Engine::Cpu};
    detail::sort::visit(keys, [&]<class Key>(std::span<Key> values) {
        std::vector<typename detail::sort::KeyBits<Key>::Bits> scratch;
        detail::sort::sort_windows_by_std(values, window, order, scratch);
    });
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
}

}  // namespace quadmill
