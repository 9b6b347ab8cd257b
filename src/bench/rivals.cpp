#include "bench/rivals.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "bench/by_value.hpp"
#include "cpu/keys.hpp"

#ifdef QUADMILL_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif
#ifdef QUADMILL_BOOST_SORT
#include <boost/sort/spreadsort/spreadsort.hpp>
#endif

namespace quadmill::detail::bench {

namespace {

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

// The library of tbb_rival.cpp. Its functions are null if it or TBB is missing.
struct Tbb {
    void (*sort)(const Keys&) = nullptr;
    void (*finish)() = nullptr;
};
const Tbb& tbb() {
    static const auto found = [] {
        void* const library = dlopen("quadmill_tbb.so", RTLD_NOW | RTLD_LOCAL);
        if (!library) return Tbb{};
        return Tbb{reinterpret_cast<void (*)(const Keys&)>(dlsym(library, "quadmill_tbb_sort")),
                   reinterpret_cast<void (*)()>(dlsym(library, "quadmill_tbb_finish"))};
    }();
    return found;
}
void parallel_sort(Keys keys) {
    tbb().sort(keys);
}

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
    static const std::array<Rival, 5> all{{{"std::sort", nullptr, std_sort},
                                           {"std::sort par", "libtbb-dev", tbb().sort ? parallel_sort : nullptr},
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
    if (tbb().finish) tbb().finish();
}

}  // namespace quadmill::detail::bench
