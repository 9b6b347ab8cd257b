// Merges of runs on the CPU.
#include "cpu/merge.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include "quadmill/error.hpp"

using namespace quadmill::detail;       // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::cpu;  // NOLINT(google-build-using-namespace)

TEST_CASE("Runs of any number, length and stride merge to one sorted run") {
    cpu::Workers workers(3);
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        const auto count = 1 + random() % 9;
        const std::size_t max = round % 10 == 0 ? 150'000 : 40;
        std::vector<std::vector<int>> memory;
        std::vector<Run<int>> runs;
        std::vector<int> expected;
        for (std::size_t r = 0; r < count; ++r) {
            std::vector<int> run(random() % max);
            for (auto& v : run) v = static_cast<int>(random() % (round % 2 ? 1'000'000 : 5));
            std::sort(run.begin(), run.end());
            expected.insert(expected.end(), run.begin(), run.end());
            const std::size_t stride = 1 + random() % 4;
            std::vector<int> spread(run.size() * stride + 1, -1);
            for (std::size_t i = 0; i < run.size(); ++i) spread[i * stride] = run[i];
            memory.push_back(std::move(spread));
            runs.push_back({memory.back().data(), run.size(), stride});
        }
        std::sort(expected.begin(), expected.end());
        std::vector<int> out(expected.size(), -7), scratch(expected.size(), -7);
        merge_runs<int>(runs, out, scratch, workers, std::less<>());
        REQUIRE(out == expected);
        std::fill(out.begin(), out.end(), -7);
        if (count <= 4) std::fill(scratch.begin(), scratch.end(), -7);
        merge_runs<int>(runs, out, scratch, workers, std::less<>(), Ways::Four);
        REQUIRE(out == expected);
        // Four runs take one round.
        if (count <= 4) REQUIRE(std::count(scratch.begin(), scratch.end(), -7) == std::ssize(scratch));
    }
}

TEST_CASE("Four runs merge like two by two: equal keys in the order of their runs") {
    struct Key {
        int value;
        std::size_t run, place;
        bool operator==(const Key&) const = default;
    };
    cpu::Workers workers(1);
    std::mt19937 random(13);
    for (int round = 0; round < 100; ++round) {
        std::array<std::vector<Key>, 4> memory;
        std::vector<Run<Key>> runs;
        std::vector<Key> expected;
        for (std::size_t r = 0; r < 4; ++r) {
            memory.at(r).resize(round % 10 == 0 ? 40'000 : random() % 30);
            for (auto& key : memory.at(r)) key.value = static_cast<int>(random() % 9);
            std::sort(memory.at(r).begin(), memory.at(r).end(),
                      [](const Key& a, const Key& b) { return a.value < b.value; });
            for (std::size_t i = 0; i < memory.at(r).size(); ++i) {
                memory.at(r)[i].run = r;
                memory.at(r)[i].place = i;
            }
            expected.insert(expected.end(), memory.at(r).begin(), memory.at(r).end());
            runs.push_back({memory.at(r).data(), memory.at(r).size(), 1});
        }
        const auto less = [](const Key& a, const Key& b) { return a.value < b.value; };
        std::stable_sort(expected.begin(), expected.end(), less);
        std::vector<Key> out(expected.size()), scratch(expected.size());
        for (const auto ways : {Ways::Two, Ways::Four}) {
            merge_runs<Key>(runs, out, scratch, workers, less, ways);
            REQUIRE(out == expected);
        }
    }
}

TEST_CASE("Merging four runs makes two or three comparisons per key, and no merge could do with one") {
    constexpr std::size_t n = 40'000;  // one piece, so nothing is cut
    std::mt19937 random(19);
    std::array<std::vector<std::uint32_t>, 4> memory;
    std::vector<Run<std::uint32_t>> runs;
    for (auto& run : memory) {
        run.resize(n / 4);
        for (auto& key : run) key = static_cast<std::uint32_t>(random());
        std::sort(run.begin(), run.end());
        runs.push_back({run.data(), run.size(), 1});
    }
    cpu::Workers workers(1);
    std::vector<std::uint32_t> out(n), scratch(n);
    // Two rounds with one comparison each, or one round with three, which the paper counts as one.
    for (const auto& [ways, each] : {std::pair{Ways::Two, 2U}, std::pair{Ways::Four, 3U}}) {
        std::size_t comparisons = 0;
        const auto less = [&](std::uint32_t a, std::uint32_t b) {
            ++comparisons;
            return a < b;
        };
        merge_runs<std::uint32_t>(runs, out, scratch, workers, less, ways);
        CHECK(std::is_sorted(out.begin(), out.end()));
        CHECK(comparisons <= each * n);
        CHECK(comparisons > each * n - n / 100);
    }
}

TEST_CASE("Extra keys merge into the front of a buffer that has room for them") {
    std::mt19937 random(12);
    for (int round = 0; round < 500; ++round) {
        std::vector<int> keys(random() % 50), extra(random() % 50);
        const int range = round % 2 ? 1000 : 3;
        for (auto& v : keys) v = static_cast<int>(random()) % range;
        for (auto& v : extra) v = static_cast<int>(random()) % range;
        std::sort(keys.begin(), keys.end());
        std::sort(extra.begin(), extra.end());
        std::vector<int> expected(keys);
        expected.insert(expected.end(), extra.begin(), extra.end());
        std::sort(expected.begin(), expected.end());
        const auto size = keys.size();
        keys.resize(expected.size(), -1);
        merge_into<int>(keys, size, extra, std::less<>());
        REQUIRE(keys == expected);
    }
}

TEST_CASE("Unsorted runs are merged within their bounds or refused, and require_sorted finds each") {
    cpu::Workers workers(3);
    std::mt19937 random(12);
    for (int round = 0; round < 100; ++round) {
        const std::size_t max = round % 10 == 0 ? 200'000 : 200;
        std::vector<std::vector<int>> memory(1 + random() % 6);
        std::vector<Run<int>> runs;
        std::size_t size = 0;
        bool sorted = true;
        for (auto& run : memory) {
            run.resize(random() % max);
            for (auto& v : run) v = static_cast<int>(random() % 100);
            if (round % 4 == 0) std::sort(run.begin(), run.end(), std::greater<>());
            sorted = sorted && std::is_sorted(run.begin(), run.end());
            runs.push_back({run.data(), run.size(), 1});
            size += run.size();
        }
        for (const auto ways : {Ways::Two, Ways::Four}) {
            std::vector<int> out(size), scratch(size);
            try {
                merge_runs<int>(runs, out, scratch, workers, std::less<>(), ways);
            } catch (const quadmill::GlError&) {
                CHECK(!sorted);
            }
        }
        if (sorted) continue;
        CHECK_THROWS_AS(require_sorted(runs, workers, std::less<>()), quadmill::GlError);
        // One pair is out of order, also where the pieces of threads meet.
        std::vector<int> once(150'000);
        std::iota(once.begin(), once.end(), 0);
        const auto at = round % 2 ? std::size_t{1} << 16U : 1 + random() % (once.size() - 1);
        std::swap(once[at - 1], once[at]);
        CHECK_THROWS_AS(require_sorted(std::vector<Run<int>>{{once.data(), once.size(), 1}}, workers, std::less<>()),
                        quadmill::GlError);
    }
}
