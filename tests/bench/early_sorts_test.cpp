// Compares the sorts that GPUTeraSort was compared with to std::stable_sort.
#include "bench/early_sorts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cpu/keys.hpp"
#include "quadmill/error.hpp"
#include "sort/stable.hpp"

using namespace quadmill;                 // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::bench;  // NOLINT(google-build-using-namespace)
using namespace quadmill::test;           // NOLINT(google-build-using-namespace)

namespace {

template <class Key>
void sort_all(EarlySorter& sorter) {
    for (const auto n : std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 65, 1000, 4096, 9999}) {
        for (const auto* distribution : {"any bits", "few", "equal", "sorted", "reversed"}) {
            CAPTURE(distribution);
            const auto keys = keys_of<Key>(distribution, n, n + 1);
            expect_stable(keys, whole, Order::Ascending, false, [&](auto& k, auto&) { sorter.sort(k, {}); });
            expect_stable(keys, whole, Order::Ascending, true, [&](auto& k, auto& index) { sorter.sort(k, index); });
        }
    }
}

}  // namespace

TEST_CASE("The sorts of Purcell and Kipfer sort keys, and keys with pointers, of any 32-bit type and size") {
    const auto context = Context::headless();
    for (const auto which : {EarlySort::Purcell, EarlySort::Kipfer}) {
        CAPTURE(static_cast<int>(which));
        EarlySorter sorter(context, which);
        sort_all<float>(sorter);
        sort_all<std::uint32_t>(sorter);
        sort_all<std::int32_t>(sorter);
    }
}

TEST_CASE("They make one pass per step, and refuse keys of other sizes") {
    const auto context = Context::headless();
    for (const auto which : {EarlySort::Purcell, EarlySort::Kipfer}) {
        EarlySorter sorter(context, which);
        auto keys = keys_of<float>("any bits", 1000, 1);
        const auto stats = sorter.sort(keys, {});
        CHECK(stats.steps == 55);
        CHECK(stats.passes == 57);  // including one to load and one to store
        std::vector<double> wide(10);
        CHECK_THROWS_WITH_AS(sorter.sort(wide, {}), doctest::Contains("32 bits only"), InvalidArgument);
    }
}
