// Sorts wide keys on the CPU and compares with std::stable_sort.
#include <doctest/doctest.h>

#include "key_cases.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)
using detail::external::WideSorter;

TEST_CASE("Keys of 0 to 255 bytes get the order of memcmp, equal ones that of the input") {
    for (const unsigned threads : {1U, 3U}) {
        WideSorter sorter({}, Engine::Auto, threads);
        CHECK(sorter.engine() == Engine::Cpu);
        for (std::size_t length = 0; length <= 255; ++length) {
            CAPTURE(length);
            const auto& form = key_forms()[length % key_forms().size()];
            CAPTURE(form);
            const auto stats = expect_order(sorter, make_keys(form, 700, length, length, length), length, length % 3);
            CHECK(stats.rounds <= (length + 3) / 4);
        }
    }
}

TEST_CASE("Every form of keys, in sizes near the limits of threads' parts") {
    WideSorter sorter({}, Engine::Cpu, 2);
    for (const auto& form : key_forms()) {
        CAPTURE(form);
        for (const auto n : std::vector<std::size_t>{0, 1, 2, 63, 64, 65, 16383, 16385, 40000, 65537}) {
            CAPTURE(n);
            for (const auto length : std::vector<std::size_t>{4, 10}) {
                const auto stats = expect_order(sorter, make_keys(form, n, length, length, n), length, 2);
                CHECK(stats.rounds <= (length + 3) / 4);
            }
        }
    }
}

TEST_CASE("Keys of any lengths, with zeros that look like an end") {
    WideSorter sorter({}, Engine::Cpu, 2);
    for (const auto& form : key_forms()) {
        CAPTURE(form);
        for (const auto longest : std::vector<std::size_t>{1, 3, 9, 30}) {
            for (const auto n : std::vector<std::size_t>{0, 1, 2, 900, 33000}) {
                CAPTURE(n);
                CAPTURE(longest);
                const auto stats = expect_order(sorter, make_keys(form, n, 0, longest, n + longest));
                CHECK(stats.rounds <= (longest + 3) / 4);
            }
        }
    }
    using namespace std::string_literals;
    expect_order(sorter, {"a\0"s, "a"s, ""s, "a\0\0"s, "a\0b"s, "\0"s, "a"s, "\xff"s, "b"s, "a\0"s});
}

TEST_CASE("Short runs of keys that differ late, or only by zeros at their ends") {
    WideSorter sorter({}, Engine::Cpu, 2);
    std::mt19937 random(7);
    std::vector<std::string> keys;
    for (int run = 0; run < 2000; ++run) {
        const auto common = std::to_string(run * 7919) + std::string(random() % 40, static_cast<char>(random() % 2));
        for (auto left = random() % 40; left > 0; --left) {
            auto key = common;
            for (auto more = random() % 12; more > 0; --more) key += static_cast<char>(random() % 3);
            keys.push_back(key);
        }
    }
    std::ranges::shuffle(keys, random);
    CHECK(expect_order(sorter, keys).compared > keys.size() / 2);
}

TEST_CASE("Very long equal keys are compared, not sorted in endless rounds") {
    WideSorter sorter({}, Engine::Cpu, 2);
    std::vector<std::string> keys(200, std::string(100'000, 'x'));
    for (std::size_t i = 0; i < keys.size(); i += 3) keys[i].back() = 'w';
    keys[5] += '\0';
    for (std::size_t i = 0; i < 20'000; ++i) keys.push_back(std::to_string(i * 7919));
    const auto stats = expect_order(sorter, keys);
    CHECK(stats.rounds <= 64);
    CHECK(stats.compared >= 200);
}

TEST_CASE("Ten bytes of random keys take one round on the CPU, and equal ones two") {
    WideSorter sorter({}, Engine::Cpu, 2);
    CHECK(expect_order(sorter, make_keys("any", 50'000, 10, 10, 1), 10, 0).rounds == 1);
    auto keys = make_keys("any", 50'000, 10, 10, 1);
    keys[49'000] = keys[7];  // a short run is compared immediately
    const auto pair = expect_order(sorter, keys, 10, 0);
    CHECK(pair.rounds == 1);
    CHECK(pair.tied == 2);
    CHECK(pair.compared == 2);
    const auto stats = expect_order(sorter, make_keys("equal", 50'000, 10, 10, 1), 10, 0);
    CHECK(stats.rounds == 2);
    CHECK(stats.tied == 50'000);
}

TEST_CASE("Engines that need a context or have no pointers are refused") {
    for (const auto engine : {Engine::Merge, Engine::Bitonic, Engine::Pbsn, Engine::Hybrid})
        CHECK_THROWS_AS(WideSorter({}, engine, 1), InvalidArgument);
}
