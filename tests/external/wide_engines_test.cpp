// Sorting wide keys by the engines on the GPU: against std::stable_sort.
#include <doctest/doctest.h>

#include "key_cases.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)
using detail::external::WideSorter;

TEST_CASE("Merge, Bitonic and Auto: keys of every form, in at most one round for 4 bytes") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic, Engine::Auto}) {
        CAPTURE(static_cast<int>(engine));
        WideSorter sorter(context, engine, 2);
        for (const auto& form : key_forms()) {
            CAPTURE(form);
            for (const auto n : std::vector<std::size_t>{0, 1, 2, 63, 65, 1000, 20'001}) {
                CAPTURE(n);
                const std::size_t length = 10;
                const auto stats = expect_order(sorter, make_keys(form, n, length, length, n), length, 1);
                CHECK(stats.rounds <= (length + 3) / 4);
                expect_order(sorter, make_keys(form, n, 0, 11, n));
            }
        }
        for (const auto length : std::vector<std::size_t>{0, 1, 3, 4, 5, 8, 9, 63, 100, 254, 255}) {
            CAPTURE(length);
            const auto& form = key_forms()[length % key_forms().size()];
            const auto stats = expect_order(sorter, make_keys(form, 500, length, length, length), length, 0);
            CHECK(stats.rounds <= (length + 3) / 4);
            if (form == "equal" && engine != Engine::Auto) CHECK(stats.rounds == (length + 3) / 4);
        }
    }
}

TEST_CASE("Hybrid has no pointers") {
    CHECK_THROWS_AS(WideSorter(Context::headless(), Engine::Hybrid, 1), InvalidArgument);
}
