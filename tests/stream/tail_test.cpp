// Quantiles with a tail, and what is kept in addition to quantiles: compares every answer with exact ranks.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

double distance_of(Tail tail, std::uint64_t rank, std::uint64_t n) {
    if (tail == Tail::Off) return static_cast<double>(n);
    const auto low = static_cast<double>(rank), high = static_cast<double>(n + 1 - rank);
    return tail == Tail::Low ? low : tail == Tail::High ? high : std::min(low, high);
}

// Ranks at all distances from both ends.
std::vector<double> phis_of(std::size_t n) {
    std::vector<double> parts{0, 0.5, 1};
    for (double d = 1; d < static_cast<double>(n); d = std::floor(d * 1.03) + 1) {
        parts.push_back(d / static_cast<double>(n));
        parts.push_back(1 - d / static_cast<double>(n));
    }
    return parts;
}

// The worst error of a rank, as a fraction of eps d. Checks the bounds of each answer, too.
template <class T>
double worst_tail_error(const Quantiles<T>& summary, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    REQUIRE(summary.n() == values.size());
    double worst = 0;
    for (const auto& q : summary.quantiles(phis_of(values.size()))) {
        const auto value = static_cast<double>(q.value);
        const auto allowed = summary.eps() * distance_of(summary.tail(), q.rank, summary.n()) * (1 + 1e-9);
        worst = std::max(worst, rank_error(values, value, q.rank) / allowed);
        REQUIRE(static_cast<double>(std::max(q.rank - std::min(q.rank, q.rank_lower),
                                             q.rank_upper - std::min(q.rank_upper, q.rank))) <= allowed);
        REQUIRE(rank_error(values, value, q.rank_lower) <= static_cast<double>(q.rank_upper - q.rank_lower));
        const auto first = std::lower_bound(values.begin(), values.end(), value) - values.begin() + 1;
        const auto last = std::upper_bound(values.begin(), values.end(), value) - values.begin();
        REQUIRE(static_cast<std::int64_t>(q.rank_upper) >= first);
        REQUIRE(static_cast<std::int64_t>(q.rank_lower) <= last);
    }
    return worst;
}

constexpr Tail tails[] = {Tail::Low, Tail::High, Tail::Both};

}  // namespace

TEST_CASE("A weight counts a value that many times, with and without a tail") {
    std::mt19937_64 random(44);
    for (const auto& order : {"random", "many ties"}) {
        const auto values = stream(order, 1'200, 8);
        const auto [weights, all] = weighted(values, random);
        for (const auto tail : {Tail::Off, Tail::Low, Tail::High, Tail::Both}) {
            for (const std::size_t part : {1U, 100U, 1'200U}) {
                CAPTURE(order);
                CAPTURE(static_cast<int>(tail));
                CAPTURE(part);
                Quantiles<double> summary({.eps = 0.02, .window = 300, .tail = tail, .moments = Moments::Kept});
                auto expected = all;
                for (std::size_t i = 0; i < values.size(); i += part)
                    summary.add(std::span(values).subspan(i, part), std::span(weights).subspan(i, part));
                CHECK(worst_tail_error(summary, expected) <= 1);
                double mean = 0;
                for (const double value : all) mean += value / static_cast<double>(all.size());
                CHECK(summary.stats().mean == doctest::Approx(mean));
                summary.add(std::span(values));
                expected.insert(expected.end(), values.begin(), values.end());
                summary.merge(copy_of(summary));
                expected.insert(expected.end(), expected.begin(), expected.end());
                CHECK(worst_tail_error(copy_of(summary), expected) <= 1);
            }
        }
    }
    Quantiles<float> summary;
    const std::array values{1.0F, std::numeric_limits<float>::quiet_NaN()};
    summary.add(values, std::array{std::uint64_t{3}, std::uint64_t{5}});
    CHECK(summary.n() == 3);
    CHECK(summary.nans() == 5);
    CHECK_THROWS_AS(summary.add(values, std::array{std::uint64_t{3}}), InvalidArgument);
    CHECK_THROWS_AS(summary.add(values, std::array{~std::uint64_t{0}, std::uint64_t{0}}), InvalidArgument);
    CHECK(summary.n() == 3);
}

TEST_CASE("A tail keeps eps d for every order, saved or not") {
    constexpr std::size_t n = 60'000;
    for (const auto& order : orders) {
        const auto values = stream(order, n, 5);
        for (const auto tail : tails) {
            for (const double eps : {0.3, 0.03, 0.003}) {
                CAPTURE(order);
                CAPTURE(static_cast<int>(tail));
                CAPTURE(eps);
                Quantiles<double> summary({.eps = eps, .window = 257, .tail = tail});
                summary.add(values);
                CHECK(worst_tail_error(summary, values) <= 1);
                const auto bytes = summary.save();
                const auto loaded = Quantiles<double>::load(bytes);
                CHECK(loaded.tail() == tail);
                CHECK(worst_tail_error(loaded, values) <= 1);
                CHECK(loaded.save() == bytes);
            }
        }
    }
}

// Windows of 64-bit values with a tail are not sorted.
TEST_CASE("Long windows of wide values keep eps d for every order, in parts, with NaNs, saved or not, on any threads") {
    constexpr std::size_t n = 70'000;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    auto kinds = std::vector<std::vector<double>>();
    for (const auto& order : all_orders) kinds.push_back(stream(order, n, 7));
    auto& below = kinds.emplace_back();  // all later windows are between two of the first one's values, and descend
    for (std::size_t i = 0; i < n; ++i)
        below.push_back(i < 9000 ? static_cast<double>(i % 9 > 0) : 1 - static_cast<double>(i) * 0x1p-17);
    auto& nested = kinds.emplace_back();  // each window is between two neighbours of the one before
    for (std::size_t i = 0; i < n; ++i)
        nested.push_back(1 + std::ldexp(static_cast<double>(i % 1000), -8 - 4 * static_cast<int>(i / 7000)));
    for (const auto& values : kinds) {
        for (const auto tail : tails) {
            for (const double eps : {0.3, 0.05, 0.02}) {
                CAPTURE(static_cast<int>(tail));
                CAPTURE(eps);
                const QuantileOptions options{
                    .eps = eps, .window = static_cast<std::size_t>(std::ceil(128 / eps)) + 1, .tail = tail};
                Quantiles<double> summary(options);
                Quantiles<double> threads(options, cpu_window_sorter(2));
                for (std::size_t i = 0, part = 1; i < n; i += part, part = part * 5 % 11'003) {
                    const auto some = std::span(values).subspan(i, std::min(part, n - i));
                    summary.add(some);
                    if (part % 4 == 1) summary.add(nan);
                    threads.add(some);
                }
                CHECK(summary.nans() > 0);
                CHECK(worst_tail_error(summary, values) <= 1);
                CHECK(summary.quantile(0.5).value == threads.quantile(0.5).value);
                const double ends = tail == Tail::Both ? 2 : 1;
                const auto entries = ends * 16 * (1 + std::log1p(eps * static_cast<double>(n))) / eps;
                const auto buckets = static_cast<double>(std::bit_width(n / options.window));
                CHECK(static_cast<double>(summary.summary_bytes()) <= 16 * entries * buckets);
                const auto loaded = copy_of(summary);
                CHECK(worst_tail_error(loaded, values) <= 1);
                auto twice = values;
                twice.insert(twice.end(), values.begin(), values.end());
                threads.merge(loaded);
                CHECK(worst_tail_error(threads, twice) <= 1);
                threads.add(values);
                twice.insert(twice.end(), values.begin(), values.end());
                CHECK(worst_tail_error(threads, twice) <= 1);
            }
        }
    }
    Quantiles<std::uint64_t> integers({.eps = 0.3, .window = 500, .tail = Tail::Both});
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < 5000; ++i) all.push_back(i % 3 == 0 ? ~std::uint64_t{0} : i % 3 == 1 ? 0 : i << 50U);
    integers.add(all);
    std::ranges::sort(all);
    for (const auto& q : integers.quantiles(phis_of(all.size()))) {
        const auto [first, last] = std::equal_range(all.begin(), all.end(), q.value);
        REQUIRE(q.rank_upper > static_cast<std::uint64_t>(first - all.begin()));
        REQUIRE(q.rank_lower <= static_cast<std::uint64_t>(last - all.begin()));
        REQUIRE(first != last);
    }
}

TEST_CASE_TEMPLATE("A tail of 2e7 values: p99.99 within 14 ranks in 11 KB", T, float, double) {
    constexpr std::size_t n = 20'000'000;
    std::vector<T> values(n);
    std::uint64_t state = 5;
    for (auto& v : values) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        v = sizeof(T) == 4 ? -std::log(static_cast<T>((state >> 40U) + 1) * static_cast<T>(0x1p-24))  // latencies
                           : static_cast<T>(state >> 11U);
    }
    Quantiles<T> summary({.eps = sizeof(T) == 4 ? 0.00875 : 0.0105, .tail = Tail::High});
    summary.add(values);
    const auto bytes = summary.save();
    const auto q = Quantiles<T>::load(bytes).quantile(0.9999);
    MESSAGE(bytes.size() << " bytes, ranks " << q.rank_lower << " to " << q.rank_upper << " for " << q.rank);
    CHECK(bytes.size() <= 11'000);
    const auto at_most = static_cast<std::uint64_t>(std::ranges::count_if(values, [&](T v) { return v <= q.value; }));
    const auto below = static_cast<std::uint64_t>(std::ranges::count_if(values, [&](T v) { return v < q.value; }));
    CHECK(at_most + 14 >= q.rank);
    CHECK(below < q.rank + 14);
    CHECK(q.rank_lower <= at_most);
    CHECK(q.rank_upper > below);
    if (sizeof(T) > 4) return;
    CHECK(q.rank_lower + 14 >= q.rank);
    CHECK(q.rank_upper <= q.rank + 14);
}

TEST_CASE("Trees of merges of a tail, with saves between") {
    constexpr std::size_t part = 3000, parts = 64;
    for (const auto tail : tails) {
        std::vector<double> all;
        std::vector<Quantiles<double>> level;
        for (std::size_t i = 0; i < parts; ++i) {
            const auto values = stream(all_orders[i % all_orders.size()], part + i, i);
            all.insert(all.end(), values.begin(), values.end());
            Quantiles<double> summary({.eps = 0.02, .window = 100, .tail = tail});
            summary.add(values);
            level.push_back(std::move(summary));
        }
        for (; level.size() > 1; level.resize(level.size() / 2)) {
            for (std::size_t i = 0; i < level.size() / 2; ++i) {
                auto& to = level[i] = Quantiles<double>::load(level[2 * i].save());
                to.merge(Quantiles<double>::load(level[2 * i + 1].save()));
            }
        }
        CHECK(worst_tail_error(level[0], all) <= 1);
        // A summary that goes on after each save.
        Quantiles<double> monitor({.eps = 0.02, .window = 100, .tail = tail});
        for (std::size_t i = 0; i < all.size(); i += 10'000) {
            monitor.add(std::span(all).subspan(i, std::min<std::size_t>(10'000, all.size() - i)));
            monitor = copy_of(monitor);
        }
        CHECK(worst_tail_error(monitor, all) <= 1);
        const auto exact = static_cast<double>(all.size());
        const auto few = (tail == Tail::Both ? 2 : 1) * (1 + std::log(2 * 0.02 * exact)) / 0.02;
        MESSAGE("saved after each 10,000: " << monitor.save().size() << ", merged: " << level[0].save().size()
                                            << " bytes");
        CHECK(static_cast<double>(monitor.save().size()) < 3 * few * 14);
    }
}

TEST_CASE("Values of every type have a tail, and few values are exact") {
    const auto check = []<class T>(T /*type*/) {
        for (const std::size_t n : {1U, 2U, 3U, 20U, 1000U}) {
            const auto values = stream("random", n, n);
            Quantiles<T> summary({.eps = 0.1, .window = 64, .tail = Tail::Both});
            std::vector<double> as_added;
            for (const double v : values) {
                const auto some = static_cast<T>(v);
                as_added.push_back(static_cast<double>(some));
                summary.add(some);
            }
            CHECK(worst_tail_error(summary, as_added) <= (n <= 20 ? 0 : 1));
            CHECK(worst_tail_error(copy_of(summary), as_added) <= (n <= 20 ? 0 : 1));
        }
    };
    check(float{});
    check(double{});
    check(std::int32_t{});
    check(std::uint32_t{});
    check(std::int64_t{});
    check(std::uint64_t{});
}

TEST_CASE("Tails that differ cannot be merged, and samples have no tail") {
    Quantiles<float> high({.eps = 0.1, .tail = Tail::High}), plain({.eps = 0.1});
    high.add(1);
    plain.add(2);
    CHECK_THROWS_AS(high.merge(plain), InvalidArgument);
    CHECK_THROWS_AS(plain.merge(high), InvalidArgument);
    CHECK_THROWS_AS(high.add_sample({.n = 1, .nans = 0, .step = 1, .values = {1}}), InvalidArgument);
    CHECK(high.n() == 1);
}

TEST_CASE("Moments beside quantiles") {
    constexpr std::size_t n = 10'007;
    const auto values = stream("heavy tail", n, 7);
    long double sum = 0, squares = 0;
    for (const double v : values) sum += v;
    const auto mean = static_cast<double>(sum / n);
    for (const double v : values)
        squares += (v - static_cast<long double>(mean)) * (v - static_cast<long double>(mean));
    const auto variance = static_cast<double>(squares / (n - 1));
    const auto check = [&](const Quantiles<double>& summary) {
        const auto stats = summary.stats();
        CHECK(stats.n == n);
        CHECK(stats.min == *std::ranges::min_element(values));
        CHECK(stats.max == *std::ranges::max_element(values));
        CHECK(stats.mean == doctest::Approx(mean).epsilon(1e-12));
        CHECK(stats.variance == doctest::Approx(variance).epsilon(1e-12));
    };
    for (const auto tail : {Tail::Off, Tail::High}) {
        const QuantileOptions options{.eps = 0.05, .window = 1000, .tail = tail, .moments = Moments::Kept};
        Quantiles<double> summary(options), one_by_one(options), first(options), second(options), empty(options);
        summary.add(values);
        for (const double v : values) one_by_one.add(v);
        one_by_one.add(std::numeric_limits<double>::quiet_NaN());
        first.add(std::span(values).first(333));
        second.add(std::span(values).subspan(333));
        first.merge(copy_of(second));
        first.merge(empty);
        empty.merge(first);
        check(summary);
        check(one_by_one);
        check(first);
        check(empty);
        check(copy_of(empty));
        Quantiles<double> without({.eps = 0.05, .tail = tail});
        CHECK_THROWS_AS(static_cast<void>(without.stats()), InvalidArgument);
        without.add(1);
        first.merge(without);
        CHECK_THROWS_AS(static_cast<void>(first.stats()), InvalidArgument);
    }
    Quantiles<std::int64_t> large({.moments = Moments::Kept});
    for (const std::int64_t v : {-1, 0, 1}) large.add((std::int64_t{1} << 52U) + v);
    CHECK(large.stats().mean == 0x1p52);
    CHECK(large.stats().variance == 1);
}

TEST_CASE("A summary in a file") {
    Quantiles<float> summary({.eps = 0.01});
    for (int i = 0; i < 1000; ++i) summary.add(static_cast<float>(i));
    const std::string path = "tail_test.summary";
    save_file(summary, path);
    CHECK(load_file<Quantiles<float>>(path).save() == summary.save());
    CHECK_THROWS_WITH_AS(static_cast<void>(load_file<Frequencies<float>>(path)), doctest::Contains(path.c_str()),
                         InvalidArgument);
    std::remove(path.c_str());
    CHECK_THROWS_AS(static_cast<void>(load_file<Quantiles<float>>(path)), IoError);
    CHECK_THROWS_AS(save_file(summary, "no/such/folder"), IoError);
}
