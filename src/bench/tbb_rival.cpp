// std::sort with TBB's threads. It is a separate library, which rivals.cpp opens, so that the command does not depend
// on TBB.
#include <tbb/global_control.h>

#include <algorithm>
#include <execution>
#include <new>

#include "bench/by_value.hpp"

extern "C" __attribute__((visibility("default"))) void quadmill_tbb_sort(const quadmill::Keys& keys) {
    quadmill::detail::bench::by_value(
        keys, [](auto values) { std::sort(std::execution::par, values.begin(), values.end()); });
}

extern "C" __attribute__((visibility("default"))) void quadmill_tbb_finish() {
    tbb::task_scheduler_handle threads{tbb::attach{}};
    tbb::finalize(threads, std::nothrow);
}
