// Merging runs on the CPU.
#include "cpu/merge.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <numeric>
#include <random>

using namespace quadmill::detail;       // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::cpu;  // NOLINT(google-build-using-namespace)

TEST_CASE("Runs of any number, length and stride merge to the sorted whole") {
    cpu::Workers workers(3);
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        const auto count = 1 + random() % 9;
        const std::size_t most = round % 10 == 0 ? 150'000 : 40;
        std::vector<std::vector<int>> memory;
        std::vector<Run<int>> runs;
        std::vector<int> expected;
        for (std::size_t r = 0; r < count; ++r) {
            std::vector<int> run(random() % most);
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
