// The hybrid engine: its queue, and sorts that CPU threads and the GPU share, against std::stable_sort.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "quadmill/error.hpp"
#include "sort/hybrid_sort.hpp"
#include "stable.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)
using detail::sort::UnitQueue;

TEST_CASE("The queue hands out every unit once, halves from the front, few from the back") {
    const std::vector<std::size_t> ends{10, 10, 20, 120, 130, 140, 150};
    UnitQueue queue(ends);
    const auto back = queue.take_back(25);
    CHECK(back.first == 5);
    CHECK(back.last == 7);
    const auto front = queue.take_front(1, 1000);  // half of 130 keys
    CHECK(front.first == 0);
    CHECK(front.last == 3);
    CHECK(queue.take_back(25).first == 4);
    CHECK(queue.take_back(25).empty());  // 100 keys are too many
    const auto rest = queue.take_front(1, 1000);
    CHECK(rest.first == 3);
    CHECK(rest.last == 4);
    CHECK(queue.take_front(1, 1000).empty());
    CHECK(queue.take_back(1000).empty());

    UnitQueue closed(ends);
    closed.close();
    CHECK(closed.take_front(1, 1000).empty());
    CHECK(closed.take_back(1000).empty());
    UnitQueue none({});
    CHECK(none.take_front(1, 1).empty());
    CHECK(none.take_back(1).empty());
}

TEST_CASE("Threads that share a queue take every unit exactly once") {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < 5000; ++i) ends.push_back((ends.empty() ? 0 : ends.back()) + i % 7);
    UnitQueue queue(ends);
    std::vector<std::atomic<int>> taken(ends.size());
    const auto take = [&](bool front) {
        for (auto range = front ? queue.take_front(10, 100) : queue.take_back(20); !range.empty();
             range = front ? queue.take_front(10, 100) : queue.take_back(20)) {
            for (auto i = range.first; i < range.last; ++i) ++taken[i];
        }
    };
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { take(i == 0); });
    }
    CHECK(std::all_of(taken.begin(), taken.end(), [](const auto& count) { return count == 1; }));
}

TEST_CASE_TEMPLATE("The hybrid engine sorts every type, and both sides sort some of it", Key, Half, float, double,
                   std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    const auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        Sorter sorter(context, {.order = order, .engine = Engine::Hybrid, .threads = 4});
        for (const std::size_t n : {0UL, 1UL, 1000UL, 131'072UL, 131'073UL, 300'000UL}) {
            for (const std::string distribution : {"few", "any bits"}) {
                expect_stable(keys_of<Key>(distribution, n, n), whole, order, false, [&](auto& keys, auto&) {
                    const auto stats = sorter.sort(keys);
                    CHECK(stats.engine == Engine::Hybrid);
                    CHECK(stats.n == n);
                });
            }
        }
        for (const std::size_t window : {1UL, 100UL, 70'000UL, 200'000UL}) {
            expect_stable(keys_of<Key>("any bits", 300'000, 1), std::min<std::size_t>(window, 300'000), order, false,
                          [&](auto& keys, auto&) { sorter.sort_windows(keys, window); });
        }
    }
}

TEST_CASE("Many keys are shared between both sides; segments that are too long for a thread go to the GPU") {
    Sorter sorter(Context::headless(), {.engine = Engine::Hybrid, .threads = 3});
    auto keys = make<float>("uniform", std::size_t{5} << 19U, 1);
    auto expected = keys;
    reference_sort(expected.data(), expected.data() + expected.size(), Order::Ascending);
    const auto stats = sorter.sort(keys);
    CHECK(same_bits(keys, expected));
    CHECK(stats.cpu_keys > 0);
    CHECK(stats.cpu_keys < stats.n);
    const std::array<std::size_t, 1> one{keys.size()};
    CHECK(sorter.sort_segments(keys, one).cpu_keys == 0);
    CHECK(same_bits(keys, expected));
}

TEST_CASE("What sorts keys alone refuses an index and the best keys") {
    Sorter sorter(Context::headless(), {.engine = Engine::Hybrid});
    std::vector<float> keys{3, 1, 2}, best(1);
    std::vector<std::uint32_t> index(3);
    CHECK_THROWS_WITH_AS(sorter.sort_with_index(keys, index), doctest::Contains("use Engine::Merge"), InvalidArgument);
    CHECK_THROWS_AS(sorter.top(keys, best), InvalidArgument);
    CHECK(keys == std::vector<float>{3, 1, 2});
}
