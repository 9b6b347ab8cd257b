// The merge engine against std::stable_sort, bit by bit: every type, order, distribution and size, windows, indices.
#include "sort/merge_sort.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
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

TEST_CASE("Segments of unequal length, empty ones too, are sorted by themselves") {
    using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)
    const auto context = Context::headless();
    auto& device = *context.device();
    const gl::Scope scope(device, "test");
    array::Workers workers(2);
    sort::MergeSort merge(device, workers);
    std::mt19937_64 random(5);
    for (const std::vector<int>& coarse : {std::vector<int>{}, std::vector<int>{3}, std::vector<int>{5, 2}}) {
        merge.plan() = {.coarse_log2 = coarse};
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
    scope.check();
}

TEST_CASE("Segments given by their ends; ends that do not fit are refused") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Cpu}) {
        Sorter sorter(context, {.order = Order::Descending, .engine = engine});
        auto keys = make<float>("any bits", 1000, 1);
        const std::array<std::size_t, 6> ends{0, 10, 10, 500, 999, 1000};
        auto expected = keys;
        for (std::size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++])
            reference_sort(expected.data() + begin, expected.data() + ends[i], Order::Descending);
        CHECK(sorter.sort_segments(keys, ends).engine == engine);
        CHECK(same_bits(keys, expected));
        CHECK_THROWS_AS(sorter.sort_segments(keys, std::array<std::size_t, 2>{10, 999}), InvalidArgument);
        CHECK_THROWS_AS(sorter.sort_segments(keys, std::array<std::size_t, 3>{20, 10, 1000}), InvalidArgument);
        CHECK_THROWS_AS(sorter.sort_segments(keys, {}), InvalidArgument);
        CHECK(same_bits(keys, expected));
        std::vector<float> none;
        CHECK(sorter.sort_segments(none, {}).n == 0);
    }
    std::vector<float> keys{2, 1};
    CHECK_THROWS_AS(Sorter(context, {.engine = Engine::Pbsn}).sort_segments(keys, std::array<std::size_t, 1>{2}),
                    InvalidArgument);
}

TEST_CASE_TEMPLATE("The best keys, and where they were, are the first of a stable sort; the keys stay", Key, Half,
                   float, double, std::int32_t, std::uint64_t) {
    const auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const auto engine : {Engine::Merge, Engine::Cpu}) {
            Sorter sorter(context, {.order = order, .engine = engine});
            for (const std::size_t n : {1UL, 64UL, 1000UL, 20'000UL, 70'001UL}) {
                for (const std::string distribution : {"few", "any bits", "specials"}) {
                    const auto input = keys_of<Key>(distribution, n, n);
                    std::vector<std::uint32_t> expected(n);
                    std::iota(expected.begin(), expected.end(), 0U);
                    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
                        return before(input[a], input[b], order);
                    });
                    for (const std::size_t wanted : {0UL, 1UL, 10UL, 64UL, 65UL, 1500UL, 35'001UL, n}) {
                        if (wanted > n) continue;
                        CAPTURE(n);
                        CAPTURE(wanted);
                        auto keys = input;
                        std::vector<Key> best(wanted), plain(wanted), sorted;
                        std::vector<std::uint32_t> index(wanted);
                        sorter.top(keys, best, index);
                        sorter.top(keys, plain);
                        for (std::size_t i = 0; i < wanted; ++i) sorted.push_back(input[expected[i]]);
                        REQUIRE(same_bits(best, sorted));
                        REQUIRE(same_bits(plain, sorted));
                        REQUIRE(std::equal(index.begin(), index.end(), expected.begin()));
                        REQUIRE(same_bits(keys, input));
                    }
                }
            }
        }
    }
}

TEST_CASE("Finding the best keys writes less and less; what cannot be asked is refused") {
    auto context = Context::headless();
    Sorter sorter(context, {.engine = Engine::Merge});
    struct Recorder : PassObserver {
        void after(const PassEvent& event) override { texels += event.texels; }
        std::uint64_t texels = 0;
    };
    auto keys = make<float>("uniform", 1U << 16U, 1);
    std::vector<float> best(64), too_many(keys.size() + 1);
    std::vector<std::uint32_t> short_index(63);
    std::array<std::uint64_t, 2> texels{};
    for (const bool all : {false, true}) {
        Recorder recorder;
        context.observe(&recorder);
        all ? sorter.sort(keys) : sorter.top(keys, best);
        context.observe(nullptr);
        texels.at(all ? 1 : 0) = recorder.texels;
    }
    CHECK(texels[0] * 4 < texels[1]);
    CHECK_THROWS_AS(sorter.top(keys, too_many), InvalidArgument);
    CHECK_THROWS_AS(sorter.top(keys, best, short_index), InvalidArgument);
    std::vector<double> other(3);
    CHECK_THROWS_AS(sorter.top(keys, other), InvalidArgument);
    CHECK_THROWS_AS(Sorter(context, {.engine = Engine::Pbsn}).top(keys, best), InvalidArgument);
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
    CHECK(recorder.seen ==
          std::vector<std::string>{"sort blocks", "sort blocks", "cuts", "merge", "merge", "cuts", "merge", "merge"});
}
