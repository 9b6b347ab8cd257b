// The hybrid engine: its queue, and sorts that CPU threads and the GPU share, compared with std::stable_sort.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cpu/sort.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "sort/hybrid_sort.hpp"
#include "stable.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)
using detail::sort::UnitQueue;

TEST_CASE("The queue gives out every unit once: halves from the front, few from the back, long ones to the front") {
    const std::vector<std::size_t> ends{10, 10, 20, 120, 130, 140, 150};
    UnitQueue queue(ends);
    const auto back = queue.take_back(25);
    CHECK(back.first == 5);
    CHECK(back.last == 7);
    const auto front = queue.take_front(1, 1000, 100);  // half of 130 keys
    CHECK(front.first == 0);
    CHECK(front.last == 3);
    CHECK(queue.take_back(25).first == 4);
    CHECK(queue.take_back(25).empty());  // 100 keys are too many
    const auto rest = queue.take_front(1, 1000, 100);
    CHECK(rest.first == 3);
    CHECK(rest.last == 4);
    CHECK(queue.take_front(1, 1000, 100).empty());
    CHECK(queue.take_back(1000).empty());

    const std::vector<std::size_t> long_ones{5, 10, 500, 505, 1000};
    UnitQueue passed(long_ones);
    CHECK(passed.take_back(20).first == 3);  // after the last unit, of 495 keys
    CHECK(passed.take_back(20).last == 2);   // after the unit of 490 keys
    CHECK(passed.take_back(20).empty());
    const std::vector<std::size_t> one{1000};
    UnitQueue all_long(one);
    CHECK(all_long.take_back(20).empty());
    CHECK(all_long.take_front(1, 1000, 100).first == 0);  // at its original position
    CHECK(passed.take_front(1, 1000, 100).first == 2);
    CHECK(passed.take_front(1, 1000, 100).first == 4);
    CHECK(passed.take_front(1, 1000, 100).empty());

    UnitQueue few(ends);
    CHECK(few.take_front(1000, 1000, 2).last == 2);
    UnitQueue closed(ends);
    closed.close();
    CHECK(closed.take_front(1, 1000, 100).empty());
    CHECK(closed.take_back(1000).empty());
    UnitQueue none({});
    CHECK(none.take_front(1, 1, 1).empty());
    CHECK(none.take_back(1).empty());
}

TEST_CASE("Threads that share a queue take every unit exactly once") {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < 5000; ++i)
        ends.push_back((ends.empty() ? 0 : ends.back()) + (i % 50 == 0 ? 40 : i % 7));
    UnitQueue queue(ends);
    std::vector<std::atomic<int>> taken(ends.size());
    const auto take = [&](bool front) {
        for (auto range = front ? queue.take_front(10, 100, 7) : queue.take_back(20); !range.empty();
             range = front ? queue.take_front(10, 100, 7) : queue.take_back(20)) {
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
    using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)
    const auto context = Context::headless();
    const gl::Scope scope(*detail::Access::of(context), "test");
    cpu::Workers workers(4);
    sort::MergeSort gpu(*detail::Access::of(context), workers);
    const sort::HybridPlan small{.gpu_min = 500, .gpu_max = 3000, .cpu_max = 70};
    bool by_cpu = false;  // depends on the machine
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const std::size_t n : {0UL, 1UL, 70UL, 71UL, 20'000UL}) {
            for (const std::string distribution : {"few", "any bits", "specials"}) {
                expect_stable(keys_of<Key>(distribution, n, n), whole, order, false, [&](auto& keys, auto&) {
                    const auto stats = sort::hybrid_sort(gpu, workers, keys, {}, order, small);
                    CHECK(stats.engine == Engine::Hybrid);
                    CHECK(stats.n == n);
                    CHECK((n < 20'000 || stats.cpu_keys < n));
                    by_cpu = by_cpu || stats.cpu_keys > 0;
                });
            }
        }
        for (const std::size_t window : {1UL, 60UL, 100UL, 5000UL}) {  // only the GPU takes the longer ones
            const auto ends = cpu::ends_of_windows(20'000, window);
            expect_stable(keys_of<Key>("any bits", 20'000, 1), window, order, false, [&](auto& keys, auto&) {
                const auto stats = sort::hybrid_sort(gpu, workers, keys, ends, order, small);
                CHECK((window <= 70 || stats.cpu_keys == 0));
            });
        }
    }
    for (int round = 0; round < 200 && !by_cpu; ++round) {
        auto keys = keys_of<Key>("any bits", 20'000, 1);
        by_cpu = sort::hybrid_sort(gpu, workers, keys, {}, Order::Ascending, small).cpu_keys > 0;
    }
    CHECK(by_cpu);
    scope.check();
}

TEST_CASE("A hybrid sorter of one thread, and of windows") {
    for (const unsigned threads : {1U, 4U}) {
        Sorter sorter(Context::headless(), {.engine = Engine::Hybrid, .threads = threads});
        expect_stable(keys_of<float>("any bits", 50'000, 1), 100, Order::Ascending, false,
                      [&](auto& keys, auto&) { sorter.sort_windows(keys, 100); });
        expect_stable(keys_of<float>("any bits", 50'000, 1), whole, Order::Ascending, false, [&](auto& keys, auto&) {
            const auto stats = sorter.sort(keys);
            CHECK((threads > 1 || stats.cpu_keys == 0));
        });
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
    // Ten segments that are too long for a CPU thread.
    keys = make<float>("uniform", std::size_t{5} << 19U, 2);
    expected = keys;
    std::vector<std::size_t> ends;
    for (std::size_t end = std::size_t{1} << 18U; end <= keys.size(); end += std::size_t{1} << 18U) {
        ends.push_back(end);
        reference_sort(expected.data() + end - (std::size_t{1} << 18U), expected.data() + end, Order::Ascending);
    }
    CHECK(sorter.sort_segments(keys, ends).cpu_keys == 0);
    CHECK(same_bits(keys, expected));
}

TEST_CASE("The hybrid engine keeps to its limit of GPU memory, also for segments with padding") {
    namespace sort = detail::sort;
    const sort::KeyForm form{KeyType::F32};
    const auto pair = form.pair_keys();
    constexpr std::size_t n = std::size_t{1} << 20U;
    const auto values = make<float>("uniform", n, 1);
    // Windows that fill more blocks or tiles than their keys alone would; and segments of different sizes.
    for (const std::size_t size : {pair + 1, std::size_t{513}, std::size_t{1025}}) {
        for (const bool equal : {true, false}) {
            CAPTURE(size);
            CAPTURE(equal);
            const auto context = Context::headless();
            auto ends = detail::cpu::ends_of_windows(n, size);
            if (!equal) ends.insert(ends.begin(), 1);
            const auto places = n + std::min(n, ends.size() * pair), pairs = (places + pair - 1) / pair;
            const auto limit = std::max(sort::MergeTextures::bytes(form, pairs),
                                        sort::TileTextures::bytes(form, sort::max_tiles(form, {1, places, places}))) +
                               (context.info().software ? sort::MergeTextures::staging_bytes(form, pairs) : 0);
            auto keys = values, expected = values;
            for (std::size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++])
                reference_sort(expected.data() + begin, expected.data() + ends[i], Order::Ascending);
            Sorter sorter(context, {.engine = Engine::Hybrid, .threads = 2, .gpu_memory = limit});
            const auto stats = sorter.sort_segments(keys, ends);
            CHECK(same_bits(keys, expected));
            CHECK(stats.textures > 0);
            CHECK(stats.texture_bytes <= limit);
            Sorter little(context, {.engine = Engine::Hybrid, .threads = 2, .gpu_memory = limit / 2});
            CHECK_THROWS_WITH_AS(little.sort_segments(keys, ends), doctest::Contains("SortOptions::gpu_memory"),
                                 InvalidArgument);
        }
    }
}

TEST_CASE("Engines that only sort keys refuse an index and the best keys") {
    Sorter sorter(Context::headless(), {.engine = Engine::Hybrid});
    std::vector<float> keys{3, 1, 2}, best(1);
    std::vector<std::uint32_t> index(3);
    CHECK_THROWS_WITH_AS(sorter.sort_with_index(keys, index), doctest::Contains("use Engine::Merge"), InvalidArgument);
    CHECK_THROWS_AS(sorter.top(keys, best), InvalidArgument);
    CHECK(keys == std::vector<float>{3, 1, 2});
}
