#include "bench/rivals.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cpu/keys.hpp"

#ifdef QUADMILL_TBB
#include <tbb/global_control.h>

#include <execution>
#include <new>
#endif
#ifdef QUADMILL_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif
#ifdef QUADMILL_BOOST_SORT
#include <boost/sort/spreadsort/spreadsort.hpp>
#endif

namespace quadmill::detail::bench {

namespace {

template <class Sort>
void by_value(Keys keys, Sort sort) {
    cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
        if constexpr (std::is_same_v<Key, Half>) {  // no compiler's type; its bits are made comparable and back
            const cpu::TotalOrder<Half> rule(Order::Ascending);
            for (auto& value : values) value.bits = rule.encode(value.bits);
            sort(std::span(reinterpret_cast<std::uint16_t*>(values.data()), values.size()));
            for (auto& value : values) value.bits = rule.decode(value.bits);
        } else {
            sort(values);
        }
    });
}

void std_sort(Keys keys) {
    by_value(keys, [](auto values) { std::sort(values.begin(), values.end()); });
}

void c_qsort(Keys keys) {
    by_value(keys, []<class Key>(std::span<Key> values) {
        std::qsort(values.data(), values.size(), sizeof(Key), [](const void* left, const void* right) {
            const auto a = *static_cast<const Key*>(left), b = *static_cast<const Key*>(right);
            return static_cast<int>(a > b) - static_cast<int>(a < b);
        });
    });
}

#ifdef QUADMILL_TBB
void parallel_sort(Keys keys) {
    by_value(keys, [](auto values) { std::sort(std::execution::par, values.begin(), values.end()); });
}
#else
constexpr void (*parallel_sort)(Keys) = nullptr;
#endif

#ifdef QUADMILL_HIGHWAY
void vqsort(Keys keys) {
    static const hwy::Sorter sorter;
    by_value(keys, [](auto values) { sorter(values.data(), values.size(), hwy::SortAscending()); });
}
#else
constexpr void (*vqsort)(Keys) = nullptr;
#endif

#ifdef QUADMILL_BOOST_SORT
void spreadsort(Keys keys) {
    by_value(keys, [](auto values) { boost::sort::spreadsort::spreadsort(values.begin(), values.end()); });
}
#else
constexpr void (*spreadsort)(Keys) = nullptr;
#endif

}  // namespace

std::span<const Rival> rivals() {
    static constexpr std::array<Rival, 5> all{{{"std::sort", nullptr, std_sort},
                                               {"std::sort par", "libtbb-dev", parallel_sort},
                                               {"vqsort", "libhwy-dev", vqsort},
                                               {"spreadsort", "libboost-dev", spreadsort},
                                               {"qsort", nullptr, c_qsort}}};
    return all;
}

const Rival* rival_of(std::string_view name) {
    for (const auto& rival : rivals()) {
        if (rival.name == name && rival.sort) return &rival;
    }
    return nullptr;
}

RivalThreads::~RivalThreads() {
#ifdef QUADMILL_TBB
    tbb::task_scheduler_handle threads{tbb::attach{}};
    tbb::finalize(threads, std::nothrow);
#endif
}

}  // namespace quadmill::detail::bench
