// The merge engine against std::stable_sort, bit by bit: every type, order, distribution and size, windows, indices.
#include "sort/merge_sort.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "stable.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

TEST_CASE_TEMPLATE("The merge engine sorts every type, order, distribution and size, with and without an index", Key,
                   Half, float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    sort_everything<Key>({.engine = Engine::Merge},
                         {.every_distribution = {0, 1, 33, 64, 1000},
                          .any_and_few = {2, 15, 16, 17, 31, 32, 63, 65, 127, 128, 129, 4097},
                          .uniform_and_specials = {65'535, 65'536, 65'537, 150'000}});
}

TEST_CASE_TEMPLATE("The merge engine sorts windows of any length", Key, Half, float, std::uint64_t) {
    sort_all_windows<Key>({.engine = Engine::Merge}, {1, 2, 31, 32, 33, 64, 65, 100, 128, 1000, 1024, 4999},
                          {1, 1000, 5000, 20'000});
}

TEST_CASE("Segments of unequal length, empty ones too, are sorted by themselves, two and four runs at a time") {
    using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)
    const auto context = Context::headless();
    auto& device = *context.device();
    const gl::Scope scope(device, "test");
    array::Workers workers(2);
    sort::MergeSort merge(device, workers);
    std::mt19937_64 random(5);
    for (const int ways : {2, 4}) {
        for (const std::vector<int>& coarse : {std::vector<int>{}, std::vector<int>{3}, std::vector<int>{5, 2}}) {
            merge.plan() = {.ways = ways, .coarse_log2 = coarse};
            for (const bool with_index : {false, true}) {
                auto keys = make<float>("few", 100'000, 8);
                const auto input = keys;
                std::vector<std::uint32_t> index(with_index ? keys.size() : 0), expected(keys.size());
                std::iota(expected.begin(), expected.end(), 0U);
                const sort::KeyForm form{KeyType::F32, Order::Ascending, with_index};
                sort::Segments segments(form.pair_keys());
                for (std::size_t begin = 0; begin < keys.size();) {
                    const auto longest = random() % 4 == 0 ? 30'000U : 200U;
                    const auto size = std::min<std::size_t>(random() % longest, keys.size() - begin);
                    segments.add(begin, size);
                    std::stable_sort(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                                     expected.begin() + static_cast<std::ptrdiff_t>(begin + size),
                                     [&](auto a, auto b) { return before(input[a], input[b], Order::Ascending); });
                    begin += size;
                }
                merge.run(keys, index, Order::Ascending, segments);
                std::vector<float> sorted;
                for (const auto i : expected) sorted.push_back(input[i]);
                REQUIRE(same_bits(keys, sorted));
                if (with_index) REQUIRE(index == expected);
            }
        }
    }
    scope.check();
}

TEST_CASE("Random sizes, windows and seeds") {
    const auto context = Context::headless();
    Sorter sorter(context, {.order = Order::Descending, .engine = Engine::Merge});
    std::mt19937_64 random(20261121);
    for (int round = 0; round < 30; ++round) {
        const auto n = 1 + random() % 30'000, window = 1 + random() % n;
        CAPTURE(round);
        expect_stable(keys_of<std::int32_t>(round % 2 ? "few" : "any bits", n, random()), window, Order::Descending,
                      false, [&](auto& k, auto&) { sorter.sort_windows(k, window); });
    }
}

TEST_CASE("The CPU's index is that of the merge engine; what cannot carry one refuses it") {
    const auto context = Context::headless();
    const auto keys = keys_of<double>("few", 5000, 3);
    for (const auto order : {Order::Ascending, Order::Descending}) {
        expect_stable(keys, whole, order, true, [&](auto& k, auto& index) { sort_with_index_on_cpu(k, index, order); });
    }
    std::vector<float> floats{3, 1, 2};
    std::vector<std::uint32_t> index(3), short_index(2);
    Sorter sorter(context, {.engine = Engine::Merge});
    sorter.sort_with_index(floats, index);
    CHECK(index == std::vector<std::uint32_t>{1, 2, 0});
    CHECK_THROWS_WITH_AS(sorter.sort_with_index(floats, short_index),
                         "Sorter::sort_with_index: the index must have as many elements as there are keys, 3, not 2",
                         InvalidArgument);
    Sorter pbsn(context, {.engine = Engine::Pbsn});
    CHECK_THROWS_AS(pbsn.sort_with_index(floats, index), InvalidArgument);
    std::vector<std::uint32_t> integers{2, 1};
    CHECK_THROWS_AS(pbsn.sort(integers), InvalidArgument);
    CHECK(integers == std::vector<std::uint32_t>{2, 1});
}

TEST_CASE("Passes of the merge engine: two a block sort, and per level two draws and the searches of cuts") {
    struct Recorder : PassObserver {
        void before(const PassEvent& pass) override { seen.emplace_back(pass.name); }
        std::vector<std::string> seen;
    } recorder;
    auto context = Context::headless();
    context.observe(&recorder);
    Sorter sorter(context, {.engine = Engine::Merge});
    auto keys = make<float>("uniform", 256, 1);  // 4 pairs of blocks: 2 levels
    const auto stats = sorter.sort(keys);
    CHECK(stats.passes == recorder.seen.size());
    CHECK(recorder.seen == std::vector<std::string>{"sort blocks", "sort blocks", "cuts", "merge two", "merge two",
                                                    "cuts", "merge two", "merge two"});
}
