#include "sort/cpu.hpp"

#include <string>
#include <utility>

#include "quadmill/error.hpp"
#include "sort/clock.hpp"

namespace quadmill {

void detail::sort::check_index(const char* function, Keys keys, std::span<const std::uint32_t> index) {
    if (index.size() != keys.size()) {
        throw InvalidArgument(std::string(function) + ": the index must have as many elements as there are keys, " +
                              std::to_string(keys.size()) + ", not " + std::to_string(index.size()));
    }
    if (keys.size() > std::size_t{1} << 31U) {
        throw InvalidArgument(std::string(function) + ": an index of 32 bits serves at most 2^31 keys, not " +
                              std::to_string(keys.size()) + "; sort parts of them");
    }
}

SortStats sort_on_cpu(Keys keys, Order order) {
    return sort_windows_on_cpu(keys, std::max<std::size_t>(keys.size(), 1), order);
}

SortStats sort_with_index_on_cpu(Keys keys, std::span<std::uint32_t> index, Order order) {
    detail::sort::check_index("sort_with_index_on_cpu", keys, index);
    const detail::sort::Stopwatch total;
    SortStats stats{.n = keys.size(), .engine = Engine::Cpu};
    detail::sort::visit(keys, [&]<class Key>(std::span<Key> values) {
        using Bits = detail::sort::KeyBits<Key>;
        const detail::sort::TotalOrder<Key> rule(order);
        std::vector<std::pair<typename Bits::Bits, std::uint32_t>> pairs(values.size());
        for (std::size_t i = 0; i < pairs.size(); ++i)
            pairs[i] = {rule.encode(Bits::of(values[i])), static_cast<std::uint32_t>(i)};
        std::sort(pairs.begin(), pairs.end());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            values[i] = Bits::value(rule.decode(pairs[i].first));
            index[i] = pairs[i].second;
        }
    });
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
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
