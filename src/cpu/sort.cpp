#include "cpu/sort.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

void detail::cpu::check_index_range(const char* function, std::size_t n) {
    if (n <= std::size_t{1} << 31U) return;
    throw InvalidArgument(std::string(function) + ": an index of 32 bits serves at most 2^31 keys, not " +
                          std::to_string(n) + "; sort parts of them");
}

void detail::cpu::check_index(const char* function, Keys keys, std::span<const std::uint32_t> index) {
    if (index.size() != keys.size()) {
        throw InvalidArgument(std::string(function) + ": the index must have as many elements as there are keys, " +
                              std::to_string(keys.size()) + ", not " + std::to_string(index.size()));
    }
    check_index_range(function, keys.size());
}

void detail::cpu::check_top(const char* function, Keys keys, Keys best, std::span<const std::uint32_t> index) {
    if (best.type() != keys.type())
        throw InvalidArgument(std::string(function) + ": the best keys must be of the type of the keys");
    if (best.size() > keys.size()) {
        throw InvalidArgument(std::string(function) + ": there are no " + std::to_string(best.size()) + " best of " +
                              std::to_string(keys.size()) + " keys; ask for as many or fewer");
    }
    if (index.empty()) return;
    if (index.size() != best.size()) {
        throw InvalidArgument(std::string(function) + ": the index must have as many elements as the best keys, " +
                              std::to_string(best.size()) + ", or none, not " + std::to_string(index.size()));
    }
    check_index_range(function, keys.size());
}

void detail::cpu::check_segments(const char* function, Keys keys, std::span<const std::size_t> ends) {
    const auto fail = [&](const std::string& why) {
        throw InvalidArgument(std::string(function) + ": the ends of segments must ascend to the number of keys, " +
                              std::to_string(keys.size()) + ", and " + why);
    };
    const auto broken = std::is_sorted_until(ends.begin(), ends.end());
    if (broken != ends.end()) fail(std::to_string(*broken) + " follows " + std::to_string(*std::prev(broken)));
    if (ends.empty() && keys.size() > 0) fail("there are none");
    if (!ends.empty() && ends.back() != keys.size()) fail("the last is " + std::to_string(ends.back()));
}

std::vector<std::size_t> detail::cpu::ends_of_windows(std::size_t n, std::size_t window) {
    std::vector<std::size_t> ends;
    ends.reserve(n / window + 1);
    for (std::size_t begin = 0; begin < n; begin += std::min(window, n - begin))
        ends.push_back(begin + std::min(window, n - begin));
    return ends;
}

SortStats sort_on_cpu(Keys keys, Order order) {
    return sort_windows_on_cpu(keys, std::max<std::size_t>(keys.size(), 1), order);
}

SortStats sort_with_index_on_cpu(Keys keys, std::span<std::uint32_t> index, Order order) {
    detail::cpu::check_index("sort_with_index_on_cpu", keys, index);
    return top_on_cpu(keys, keys, index, order);
}

SortStats top_on_cpu(Keys keys, Keys best, std::span<std::uint32_t> index, Order order) {
    detail::cpu::check_top("top_on_cpu", keys, best, index);
    const detail::cpu::Stopwatch total;
    SortStats stats{.n = keys.size(), .engine = Engine::Cpu};
    detail::cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
        using Bits = detail::cpu::KeyBits<Key>;
        const detail::cpu::TotalOrder<Key> rule(order);
        auto* out = static_cast<Key*>(best.data());
        const auto sort_first = [&](auto& all) {
            const auto end = all.begin() + static_cast<std::ptrdiff_t>(best.size());
            if (end != all.end()) std::nth_element(all.begin(), end, all.end());
            std::sort(all.begin(), end);
        };
        if (index.empty()) {
            std::vector<typename Bits::Bits> bits(values.size());
            std::transform(values.begin(), values.end(), bits.begin(),
                           [&](Key key) { return rule.encode(Bits::of(key)); });
            sort_first(bits);
            for (std::size_t i = 0; i < best.size(); ++i) out[i] = Bits::value(rule.decode(bits[i]));
            return;
        }
        std::vector<std::pair<typename Bits::Bits, std::uint32_t>> pairs(values.size());
        for (std::size_t i = 0; i < pairs.size(); ++i)
            pairs[i] = {rule.encode(Bits::of(values[i])), static_cast<std::uint32_t>(i)};
        sort_first(pairs);
        for (std::size_t i = 0; i < best.size(); ++i) {
            out[i] = Bits::value(rule.decode(pairs[i].first));
            index[i] = pairs[i].second;
        }
    });
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
}

SortStats sort_windows_on_cpu(Keys keys, std::size_t window, Order order) {
    if (window == 0) throw InvalidArgument("sort_windows_on_cpu: a window must hold at least 1 key, not 0");
    return sort_segments_on_cpu(keys, detail::cpu::ends_of_windows(keys.size(), window), order);
}

SortStats sort_segments_on_cpu(Keys keys, std::span<const std::size_t> ends, Order order) {
    detail::cpu::check_segments("sort_segments_on_cpu", keys, ends);
    const detail::cpu::Stopwatch total;
    SortStats stats{.n = keys.size(), .engine = Engine::Cpu};
    detail::cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
        std::vector<typename detail::cpu::KeyBits<Key>::Bits> scratch;
        std::size_t begin = 0;
        for (const auto end : ends) {
            detail::cpu::sort_by_std(values.subspan(begin, end - begin), order, scratch);
            begin = end;
        }
    });
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
}

}  // namespace quadmill
