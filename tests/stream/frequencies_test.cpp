// Lossy counts of whole streams: compares bounds with exact counts, and checks what summaries report about their
// operations.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <limits>

#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

// The max amount by which a count of a frequent value is too low. Checks that none is missing and none is too rare.
template <class Summary>
double worst_count(const Summary& summary, const std::vector<double>& values, double support) {
    const auto counts = exact_counts(values);
    const auto n = static_cast<double>(values.size());
    const auto found = summary.frequent(support);
    double worst = 0;
    std::map<double, Count> by_value;
    for (const auto& [value, count] : found) {
        by_value[static_cast<double>(value)] = count;
        const auto exact = counts.at(static_cast<double>(value));
        REQUIRE(count.lower <= exact);
        REQUIRE(count.upper >= exact);
        REQUIRE(count.estimate <= exact);
        REQUIRE(static_cast<double>(exact) >= (support - summary.eps()) * n);
        worst = std::max(worst, static_cast<double>(exact - count.estimate));
    }
    bool all_found = true, all_bounded = true;
    for (const auto& [value, exact] : counts) {
        if (static_cast<double>(exact) >= support * n) all_found = all_found && by_value.count(value) == 1;
        const auto count = summary.count(value);
        all_bounded = all_bounded && count.lower <= exact && count.upper >= exact &&
                      static_cast<double>(exact - count.lower) <= summary.eps() * n;
    }
    REQUIRE(all_found);
    REQUIRE(all_bounded);
    return worst;
}

}  // namespace

TEST_CASE("Frequencies count a value as often as its weight says") {
    std::mt19937_64 random(45);
    for (const auto& order : orders) {
        const auto values = stream(order, 2'000, 9);
        const auto [weights, all] = weighted(values, random);
        for (const std::size_t part : {1U, 100U, 2'000U}) {
            CAPTURE(order);
            CAPTURE(part);
            Frequencies<double> summary({.eps = 0.002, .window = 600});
            auto expected = all;
            for (std::size_t i = 0; i < values.size(); i += part)
                summary.add(std::span(values).subspan(i, part), std::span(weights).subspan(i, part));
            CHECK(summary.n() == all.size());
            worst_count(summary, expected, 0.01);
            summary.add(std::span(values));
            expected.insert(expected.end(), values.begin(), values.end());
            summary.merge(copy_of(summary));
            expected.insert(expected.end(), expected.begin(), expected.end());
            CHECK(summary.summary_bytes() < 24 * 500 * std::log(0.002 * static_cast<double>(expected.size())));
            worst_count(copy_of(summary), expected, 0.01);
        }
    }
    Frequencies<std::uint32_t> summary;
    CHECK_THROWS_AS(summary.add(std::array{1U}, std::span<const std::uint64_t>()), InvalidArgument);
}

TEST_CASE("Frequencies keep eps, miss nothing frequent and stay small, for every order, eps and window") {
    constexpr std::size_t n = 50'000;
    for (const auto& order : orders) {
        const auto values = stream(order, n, 11);
        for (const double eps : {1e-1, 1e-2, 1e-3, 1e-4}) {
            // The paper's window, others that do not match it, and the default.
            for (const std::size_t window : {static_cast<std::size_t>(std::ceil(1 / eps)), std::size_t{777},
                                             static_cast<std::size_t>(50 / eps), std::size_t{0}}) {
                CAPTURE(order);
                CAPTURE(eps);
                CAPTURE(window);
                Frequencies<double> summary({.eps = eps, .window = window});
                std::size_t max_bytes = 0;
                for (std::size_t i = 0; i < n; i += 5000) {
                    summary.add(std::span(values).subspan(i, 5000));
                    max_bytes = std::max(max_bytes, summary.summary_bytes());
                }
                double worst = 0;
                for (const double support : {eps, 0.1, 0.5})
                    worst = std::max(worst, worst_count(summary, values, std::max(support, eps)));
                CHECK(worst <= eps * n);
                // Manku and Motwani's bound for entries, (1 / eps) log(eps N). Another window of 1 / eps is in flight.
                const double entries = static_cast<double>(max_bytes) / 24;
                const double bound = (1 / eps) * std::max(std::log(eps * n), 1.0) + 1 / eps;
                CHECK(entries <= bound);
                if (window == 0) {
                    MESSAGE(order << ", eps " << eps << ": worst count " << worst << " too low of " << eps * n << ", "
                                  << max_bytes << " bytes of " << 24 * bound);
                }
            }
        }
    }
}

TEST_CASE("What defeats compressing counts of one: everything comes twice, and no entry stays") {
    Frequencies<std::uint32_t> summary({.eps = 0.01, .window = 100});
    for (std::uint32_t i = 0; i < 50'000; ++i) summary.add(std::vector<std::uint32_t>{i, i});
    CHECK(summary.summary_bytes() / 24 <= 691);
    CHECK(summary.frequent(0.02).empty());
}

TEST_CASE("Frequencies merge, save and load") {
    std::vector<double> all;
    Frequencies<double> sum({.eps = 0.001, .window = 500});
    for (std::size_t i = 0; i < 60; ++i) {
        const auto values = stream(i % 2 == 0 ? "heavy tail" : "many ties", 100 + 731 * (i % 5), i);
        all.insert(all.end(), values.begin(), values.end());
        Frequencies<double> part({.eps = i == 7 ? 0.01 : 0.002, .window = 100 + i});
        part.add(values);
        part.add(std::numeric_limits<double>::quiet_NaN());
        const auto bytes = part.save();
        auto loaded = Frequencies<double>::load(bytes);
        CHECK(loaded.save() == bytes);
        CHECK(loaded.nans() == 1);
        sum.merge(i % 3 == 0 ? part : loaded);
    }
    CHECK(sum.eps() == 0.01);
    CHECK(sum.nans() == 60);
    CHECK(sum.n() == all.size());
    for (const double support : {0.01, 0.02, 0.1})
        CHECK(worst_count(sum, all, support) <= 0.01 * static_cast<double>(all.size()));
    sum.merge(sum);
    const auto copy = all;
    all.insert(all.end(), copy.begin(), copy.end());
    CHECK(worst_count(sum, all, 0.02) <= 0.01 * static_cast<double>(all.size()));
}

TEST_CASE("-0 and 0 are counted together; integers go by their bits") {
    Frequencies<float> floats({.eps = 0.01});
    for (int i = 0; i < 100; ++i) floats.add(i % 2 == 0 ? 0.0F : -0.0F);
    REQUIRE(floats.frequent(1).size() == 1);
    CHECK(floats.count(-0.0F).lower == 100);
    Frequencies<std::int64_t> whole({.eps = 0.1});
    for (const auto v :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}})
        whole.add(v);
    CHECK(whole.frequent(0.1).size() == 3);
    CHECK(whole.frequent(0.1).front().value == std::numeric_limits<std::int64_t>::min());
    CHECK_THROWS_AS(static_cast<void>(whole.frequent(0.05)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(whole.frequent(1.5)), InvalidArgument);
}

TEST_CASE("What each operation of a summary took is told, of streams shorter than a window, too") {
    const auto values = stream("random", 30'000, 6);
    const auto all = [](const StreamTimes& times) { return times.sample + times.merge + times.compress; };
    const auto look = [&](const char* name, auto make, auto ask) {
        CAPTURE(name);
        for (const std::size_t window : {std::size_t{1000}, std::size_t{1} << 20U}) {
            CAPTURE(window);
            const auto begin = std::chrono::steady_clock::now();
            auto summary = make(window);
            ask(summary);
            const double took =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
            const auto times = summary.times();
            CHECK(times.sample > 0);
            if (window == 1000) CHECK(times.merge > 0);
            if (window == 1000) CHECK(times.compress > 0);
            CHECK(all(times) + times.sort <= took);
        }
    };
    look(
        "quantiles",
        [&](std::size_t window) {
            Quantiles<double> summary({.eps = 0.01, .window = window});
            summary.add(values);
            return summary;
        },
        [](const auto& summary) { static_cast<void>(summary.quantile(0.5)); });
    look(
        "frequencies",
        [&](std::size_t window) {
            Frequencies<double> summary({.eps = 0.001, .window = window});
            summary.add(values);
            return summary;
        },
        [](const auto& summary) { static_cast<void>(summary.frequent(0.5)); });
    look(
        "heavy prefixes",
        [&](std::size_t window) {
            HeavyPrefixes<std::uint32_t> summary({.eps = 0.05, .support = 0.2, .lengths = {8, 32}, .window = window});
            for (const auto v : values) summary.add(static_cast<std::uint32_t>(v));
            return summary;
        },
        [](const auto& summary) { static_cast<void>(summary.heavy(0.5)); });
    look(
        "correlated sums",
        [&](std::size_t window) {
            CorrelatedSums<double> summary({.eps = 0.01, .window = window});
            summary.add(values, values);
            return summary;
        },
        [](const auto& summary) { static_cast<void>(summary.sum({})); });
}

TEST_CASE("A window of one value makes lossy counting no slower, and changes no bound") {
    Frequencies<double> summary({.eps = 0.001, .window = 1});
    const auto values = stream("heavy tail", 200'000, 4);
    for (const double v : values) summary.add(v);
    CHECK(worst_count(summary, values, 0.002) <= 0.001 * 200'000);
}
