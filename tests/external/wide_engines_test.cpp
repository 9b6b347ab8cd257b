// Sorts wide keys with the GPU engines and compares with std::stable_sort.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "key_cases.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)
using detail::external::WideSorter;

namespace {

// Max rounds for keys of that many bytes: words are 4 bytes.
std::size_t max_rounds(std::size_t length) {
    return (length + 3) / 4;
}

}  // namespace

TEST_CASE("Every engine: keys of every form, in at most one round per word") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic, Engine::Auto}) {
        CAPTURE(static_cast<int>(engine));
        WideSorter sorter(context, engine, 2);
        for (const auto& form : key_forms()) {
            CAPTURE(form);
            for (const auto n : std::vector<std::size_t>{0, 1, 2, 65, 1000, 9001}) {
                CAPTURE(n);
                const std::size_t length = 10;
                const auto stats = expect_order(sorter, make_keys(form, n, length, length, n), length, 1);
                CHECK(stats.rounds <= max_rounds(length));
                CHECK(expect_order(sorter, make_keys(form, n, 0, 11, n)).rounds <= max_rounds(11));
            }
        }
        for (const auto length : std::vector<std::size_t>{0, 1, 3, 4, 5, 8, 9, 63, 100, 254, 255}) {
            CAPTURE(length);
            const auto& form = key_forms()[length % key_forms().size()];
            const auto stats = expect_order(sorter, make_keys(form, 500, length, length, length), length, 0);
            CHECK(stats.rounds <= max_rounds(length));
        }
    }
}

TEST_CASE("All equal keys take all rounds, none more: words are 4 bytes") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic}) {
        WideSorter sorter(context, engine, 2);
        for (const auto length : std::vector<std::size_t>{4, 5, 10, 32}) {
            const auto stats = expect_order(sorter, make_keys("equal", 3000, length, length, 1), length, 0);
            CHECK(stats.rounds == max_rounds(length));
            CHECK(stats.compared == 0);
            CHECK(stats.tied == (stats.rounds > 1 ? 3000 : 0));
        }
    }
}

TEST_CASE("Keys that the paper's mask makes equal or reverses are sorted correctly") {
    // Section 4.3 of GPUTeraSort overwrites the two highest bits of a word with "10".
    const auto masked = [](const std::string& key) {
        std::uint32_t word = 0;
        for (const auto c : key) word = word << 8U | static_cast<unsigned char>(c);
        return (word & 0x3fffffffU) | 0x80000000U;
    };
    REQUIRE(masked("!abc") == masked("aabc"));
    REQUIRE(std::bit_cast<float>(masked("abcd")) > std::bit_cast<float>(masked("abce")));
    REQUIRE(std::fpclassify(std::bit_cast<float>(masked("@abc"))) == FP_SUBNORMAL);
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic}) {
        WideSorter sorter(context, engine, 1);
        expect_order(sorter, {"aabc", "!abc", "abce", "abcd", "@abc", "@abb"}, 4, 0);
    }
}

TEST_CASE("Many short runs and a few long ones are sorted together") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic, Engine::Auto}) {
        CAPTURE(static_cast<int>(engine));
        WideSorter sorter(context, engine, 2);
        auto keys = make_keys("any", 20'000, 10, 10, 7);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (i % 4 == 0) keys[i].replace(0, 5, "aaaaa");
            if (i % 4 == 1) keys[i].replace(0, 4, {'b', 'b', static_cast<char>(i % 251), static_cast<char>(i % 7)});
        }
        expect_order(sorter, keys, 10, 0);
    }
}

TEST_CASE("Hybrid and PBSN have no pointers") {
    CHECK_THROWS_WITH_AS(WideSorter(Context::headless(), Engine::Hybrid, 1),
                         doctest::Contains("the hybrid engine cannot carry pointers"), InvalidArgument);
    CHECK_THROWS_WITH_AS(WideSorter(Context::headless(), Engine::Pbsn, 1),
                         doctest::Contains("the PBSN engine cannot carry pointers"), InvalidArgument);
}
