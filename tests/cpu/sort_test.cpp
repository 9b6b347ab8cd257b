// Engine::Cpu without a context: compares sorts of any type, order and number of threads with std::stable_sort.
#include "cpu/sort.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <span>

#include "cpu/cut.hpp"
#include "cpu/merge.hpp"
#include "cpu/scratch.hpp"
#include "cpu/thread_gain.hpp"
#include "sanitized.hpp"
#include "sort/stable.hpp"

using namespace quadmill;               // NOLINT(google-build-using-namespace)
using namespace quadmill::test;         // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::cpu;  // NOLINT(google-build-using-namespace)

namespace {

// With three threads, runs have two lengths.
constexpr std::array<std::size_t, 9> few_sizes{0, 1, 2, 3, 15, 33, 1000, 4097, 65'535};
constexpr std::array<std::size_t, 2> many_sizes{131'072, 150'001};
constexpr std::array<unsigned, 4> thread_counts{1, 2, 3, 7};

template <class Key>
void sort_all_ways(const std::vector<Key>& input, Order order, std::span<const unsigned> numbers_of_threads) {
    const auto places = stable_places(input, whole, order);
    const auto sorted = keys_at(input, places);
    CAPTURE(input.size());
    for (const auto threads : numbers_of_threads) {
        CAPTURE(threads);
        auto keys = input;
        const auto stats = sort_on_cpu(keys, order, threads);
        CHECK(stats.n == keys.size());
        CHECK(stats.engine == Engine::Cpu);
        REQUIRE(same_bits(keys, sorted));
        keys = input;
        std::vector<std::uint32_t> index(keys.size());
        sort_with_index_on_cpu(keys, index, order, threads);
        REQUIRE(same_bits(keys, sorted));
        REQUIRE(index == places);
        const Workers workers(threads);  // uses all of them, even if they do not gain
        keys = input;
        sort_keys(keys, order, workers);
        REQUIRE(same_bits(keys, sorted));
        keys = input;
        index.assign(keys.size(), 0xabcdU);
        sort_places(keys, part(keys, 0, 0), index, order, workers);
        REQUIRE(same_bits(keys, input));
        REQUIRE(index == places);
    }
}

}  // namespace

TEST_CASE_TEMPLATE("Keys and indices equal those of std::stable_sort, with any number of threads", Key, Half, float,
                   double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const auto& distribution : distributions()) {
            CAPTURE(distribution);
            for (const auto n : few_sizes)
                sort_all_ways(keys_of<Key>(distribution, n, n + 1), order, std::span(thread_counts).first(1));
        }
        for (const auto* distribution : {"any bits", "few", "specials", "sorted", "reversed"}) {
            CAPTURE(distribution);
            for (const auto n : std::span(many_sizes).last(sanitized ? 1 : 2)) sort_all_ways(keys_of<Key>(distribution, n, n), order, thread_counts);
        }
    }
}

TEST_CASE_TEMPLATE("The best keys are the first of all, and no other key moves", Key, Half, float, double, std::int32_t,
                   std::uint64_t) {
    for (const auto order : {Order::Ascending, Order::Descending}) {
        const auto keys = keys_of<Key>("any bits", 100'003, 3);
        std::vector<std::uint32_t> places(keys.size());
        std::iota(places.begin(), places.end(), 0U);
        std::ranges::stable_sort(places, [&](auto a, auto b) { return before(keys[a], keys[b], order); });
        for (const std::size_t k : {0UL, 1UL, 777UL, keys.size() - 1, keys.size()}) {
            for (const bool with_index : {false, true}) {
                auto input = keys;
                std::vector<Key> best(k), expected;
                std::vector<std::uint32_t> index(with_index ? k : 0);
                top_on_cpu(input, best, index, order, 2);
                for (std::size_t i = 0; i < k; ++i) expected.push_back(keys[places[i]]);
                CHECK(same_bits(best, expected));
                CHECK(same_bits(input, keys));
                if (with_index) CHECK(std::ranges::equal(index, std::span(places).first(k)));
            }
        }
    }
}

TEST_CASE("Keys in order, in reverse order and of few values: every key may pass the filter of the best, or none") {
    constexpr std::size_t n = 50'000;
    for (const std::uint32_t values : {1U, 2U, 7U, 50'000U}) {
        for (const bool falling : {false, true}) {
            std::vector<std::uint32_t> keys(n);
            for (std::size_t i = 0; i < n; ++i) {
                const auto step = static_cast<std::uint32_t>(i * values / n);
                keys[i] = falling ? values - step : step;
            }
            const auto places = stable_places(keys, whole, Order::Ascending);
            const auto sorted = keys_at(keys, places);
            for (const std::size_t k : {1UL, 10UL, 300UL, 20'000UL, 30'000UL}) {
                std::vector<std::uint32_t> best(k), index(k), alone(k);
                top_on_cpu(keys, best, index, Order::Ascending, 2);
                top_on_cpu(keys, alone, {}, Order::Ascending, 2);
                CHECK(std::ranges::equal(best, std::span(sorted).first(k)));
                CHECK(std::ranges::equal(index, std::span(places).first(k)));
                CHECK(alone == best);
            }
            for (const unsigned threads : {2U, 5U, 16U}) {
                auto all = keys;
                sort_keys(all, Order::Ascending, Workers(threads));
                CHECK(all == sorted);
            }
        }
    }
}

TEST_CASE("Scratch memory that could not grow is still usable for less") {
    Scratch scratch;
    CHECK(scratch.of<std::uint64_t>(100).data() == static_cast<void*>(scratch.of<std::uint32_t>(200).data()));
    const auto too_much = std::numeric_limits<std::size_t>::max() / 2;
    CHECK_THROWS_AS(static_cast<void>(scratch.of<std::uint64_t>(too_much)), std::bad_alloc);
    const auto again = scratch.of<std::uint64_t>(10);
    REQUIRE(again.data() != nullptr);
    std::ranges::fill(again, 1U);
}

TEST_CASE("Segments of any length are sorted separately, long ones by all threads") {
    std::mt19937_64 random(17);
    for (const std::size_t longest : {10UL, 3000UL, 200'000UL}) {
        for (const unsigned threads : thread_counts) {
            std::vector<std::size_t> ends;
            for (std::size_t end = 0; end < 200'000; ends.push_back(end)) end += random() % longest;
            ends.push_back(ends.back());
            auto keys = keys_of<float>("any bits", ends.back(), 5), expected = keys;
            std::size_t begin = 0;
            for (const auto end : ends) {
                reference_sort(expected.data() + begin, expected.data() + end, Order::Descending);
                begin = end;
            }
            sort_segments_on_cpu(keys, ends, Order::Descending, threads);
            CHECK(same_bits(keys, expected));
        }
    }
    for (const std::size_t window : {1UL, 100UL, 40'000UL, 300'000UL}) {
        expect_stable(keys_of<std::int32_t>("any bits", 250'000, window), window, Order::Ascending, false,
                      [&](auto& k, auto&) { sort_windows_on_cpu(k, window, Order::Ascending, 3); });
    }
}

TEST_CASE_TEMPLATE("Numbers of every width are sorted, wide ones by their upper bits first", Number, std::uint16_t,
                   std::uint32_t, std::uint64_t, Wide) {
    std::mt19937_64 random(19);
    for (const std::size_t n : {0UL, 1UL, 7UL, 64UL, 1000UL, 70'000UL}) {
        for (const std::uint64_t values : {3ULL, 1000ULL, ~0ULL}) {
            std::vector<Number> numbers(n);
            for (auto& number : numbers) {
                if constexpr (std::is_same_v<Number, Wide>) {
                    number = {.low = random() % values, .high = random() % values};
                } else {
                    number = static_cast<Number>(random() % values);
                }
            }
            auto expected = numbers;
            std::ranges::stable_sort(expected);
            sort_numbers(std::span(numbers));
            CHECK(numbers == expected);
        }
    }
}

TEST_CASE("Numbers equal to a frequent pivot are set apart: no thread sorts them") {
    std::uint64_t state = 1;
    for (const std::size_t n : {0U, 1U, 2U, 1000U, 4097U}) {
        for (const std::uint32_t values : {1U, 2U, 3U, 1000U}) {
            CAPTURE(n);
            CAPTURE(values);
            std::vector<std::uint32_t> numbers(n);
            for (auto& number : numbers) {
                state = state * 6364136223846793005U + 1442695040888963407U;
                number = static_cast<std::uint32_t>(state >> 33U) % values;
            }
            auto sorted = numbers;
            std::ranges::sort(sorted);
            const auto pivot = values / 2;
            const auto [below, above] = divide(std::span(numbers), {pivot, true});
            REQUIRE(std::ranges::all_of(below, [&](auto number) { return number < pivot; }));
            REQUIRE(std::ranges::all_of(above, [&](auto number) { return number > pivot; }));
            const auto equal = n - below.size() - above.size();
            CHECK(equal == static_cast<std::size_t>(std::ranges::count(sorted, pivot)));
            if (values == 1) CHECK(equal == n);
            std::ranges::sort(below);
            std::ranges::sort(above);
            CHECK(numbers == sorted);
        }
    }
    for (const std::size_t others : {0U, 1U, 100U, 50'000U}) {
        CAPTURE(others);
        std::vector<float> keys(200'000, 7);
        for (std::size_t i = 0; i < others; ++i) keys[i * 3] = static_cast<float>(i % 1000) - 500;
        for (const auto order : {Order::Ascending, Order::Descending}) sort_all_ways(keys, order, thread_counts);
    }
}

TEST_CASE("Threads sort only if they gain, and only as many as gain") {
    // vqsort with AVX-512: one thread takes 0.8 ms for 2^18 floats. Dividing them takes most of the time that two
    // threads save.
    const SortCosts fast{.sort_ns = 0.17, .cut_ns = 1}, slow{.sort_ns = 4, .cut_ns = 1};
    CHECK(threads_that_gain(fast, std::size_t{1} << 17U, 2) == 1);
    CHECK(threads_that_gain(fast, std::size_t{1} << 18U, 2) == 1);
    CHECK(threads_that_gain(fast, std::size_t{1} << 22U, 16) == 16);
    CHECK(threads_that_gain(fast, std::size_t{1} << 20U, 2) == 2);
    CHECK(threads_that_gain(slow, std::size_t{1} << 13U, 2) == 1);  // it would take half a millisecond
    CHECK(threads_that_gain(slow, std::size_t{1} << 15U, 2) == 2);
    CHECK(threads_that_gain(slow, std::size_t{1} << 22U, 3) == 3);
    for (const auto& costs : {fast, slow}) {
        CHECK(threads_that_gain(costs, 0, 16) == 1);
        CHECK(threads_that_gain(costs, 1000, 16) == 1);
        CHECK(threads_that_gain(costs, std::size_t{1} << 30U, 1) == 1);
        unsigned before = 1;
        for (std::size_t n = 1024; n <= std::size_t{1} << 28U; n *= 2) {  // more keys never need fewer threads
            const auto gain = threads_that_gain(costs, n, 16);
            CHECK(gain >= before);
            before = gain;
        }
        CHECK(before == 16);
    }
    CHECK(threads_that_gain_here<std::uint32_t>(1000, 16) == 1);
    for (const std::size_t n : {1UL << 20U, 1UL << 24U}) {
        const auto gain = threads_that_gain_here<std::uint64_t>(n, 7);
        CHECK(gain >= 1);
        CHECK(gain <= 7);
    }
}
