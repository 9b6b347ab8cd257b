// Summaries that many threads fill (run with the thread sanitizer, too), those of the last seconds, and of groups.
#include "quadmill/concurrent.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/names.hpp"
#include "quadmill/stream.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

TEST_CASE("Threads fill one summary while another reads it") {
    constexpr std::size_t threads = 5, each = 20'000;
    for (const std::size_t parts : {0U, 1U, 3U}) {
        Concurrent<Quantiles<double>> all([] { return Quantiles<double>({.eps = 0.01, .window = 512}); }, parts);
        Concurrent<Frequencies<std::string>> names([] { return Frequencies<std::string>({.eps = 0.01}); }, parts);
        std::vector<double> values;
        std::vector<std::vector<double>> of_thread;
        for (std::size_t t = 0; t < threads; ++t) {
            of_thread.push_back(stream(orders[t % orders.size()], each, t));
            values.insert(values.end(), of_thread[t].begin(), of_thread[t].end());
        }
        std::vector<std::thread> running;
        for (const auto& mine : of_thread) {
            running.emplace_back([&] {
                for (std::size_t i = 0; i < each / 2; ++i) all.add(mine[i]);
                all.add(std::span(mine).subspan(each / 2));
                for (std::size_t i = 0; i < 100; ++i) names.add(std::string("name"));
            });
        }
        std::uint64_t before = 0;
        for (int i = 0; i < 20; ++i) {
            const auto n = all.merged().n();
            CHECK(n >= before);
            before = n;
        }
        for (auto& thread : running) thread.join();
        std::ranges::sort(values);
        const auto merged = all.merged();
        CHECK(merged.n() == threads * each);
        CHECK(names.merged().count("name").lower == threads * 100);
        for (const auto& q : merged.quantiles({0, 0.1, 0.5, 0.9, 1}))
            CHECK(rank_error(values, q.value, q.rank) <= 0.01 * static_cast<double>(values.size()));
    }
}

TEST_CASE("The last seconds") {
    struct Timed {
        double time, value;
    };
    std::vector<Timed> stream;
    Recent<Quantiles<double>> recent(
        10, [] { return Quantiles<double>({.eps = 0.1}); }, 8);
    std::uint64_t state = 7;
    const double pane = 10.0 / 8;
    std::size_t late = 0;
    double newest = -1e300;
    for (int i = 0; i < 4000; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        // Mostly forward, sometimes far back, and once after a long pause.
        const auto back = static_cast<double>(state >> 40U) * 0x1p-24;
        const Timed one{0.01 * i + (i > 3000 ? 500 : 0) - (i % 5 == 0 ? 20 * back : 0), static_cast<double>(i)};
        newest = std::max(newest, one.time);
        if (std::floor(one.time / pane) < std::floor(newest / pane) - 8) {
            ++late;
        } else {
            stream.push_back(one);
        }
        recent.add(one.time, one.value);
        if (i % 97 != 0) continue;
        std::vector<double> must, may;
        for (const auto& [time, value] : stream) {
            if (time >= newest - 10) must.push_back(value);
            if (time >= newest - 10 - pane) may.push_back(value);
        }
        const auto summary = recent.summary(newest);
        REQUIRE(summary.n() >= must.size());
        REQUIRE(summary.n() <= may.size());
        REQUIRE(std::ranges::count(may, summary.quantile(0.5).value) == 1);
    }
    CHECK(late > 0);
    CHECK(recent.late() == late);
    CHECK(recent.latest() == newest);
    CHECK(recent.summary(newest + 100).n() == 0);
    CHECK(recent.bytes() > 0);
    CHECK_THROWS_AS(Recent<Distinct>(0, [] { return Distinct(); }), InvalidArgument);
    CHECK_THROWS_AS(recent.add(std::nan(""), 1.0), InvalidArgument);
}

TEST_CASE("Each group has the summary that it would have alone, also after a merge") {
    const auto make = [] { return Quantiles<double>({.eps = 0.01}); };
    const std::vector<std::string> names{"", "/a", "/film"};
    Grouped<Quantiles<double>> one(make, 3), two(make, 3);
    std::vector<std::vector<double>> values;
    for (std::size_t g = 0; g < names.size(); ++g) {
        values.push_back(stream(orders[g], 20'000 * g + 100, g));
        const auto half = std::span(values[g]).first(values[g].size() / 2);
        for (const auto value : half) one.add(names[g], value);
        two.add(names[g], std::span(values[g]).subspan(half.size()));
    }
    const auto few = one.bytes();
    one.merge(two);
    CHECK(one.bytes() > few);
    REQUIRE(one.groups().size() == names.size());
    for (std::size_t g = 0; g < names.size(); ++g) {
        std::ranges::sort(values[g]);
        const auto& group = one.groups().at(names[g]);
        CHECK(group.n() == values[g].size());
        for (const auto& q : group.quantiles({0, 0.5, 0.99, 1}))
            CHECK(rank_error(values[g], q.value, q.rank) <= 0.01 * static_cast<double>(values[g].size()));
    }
    // No more groups than allowed, and a merge that is refused changes nothing.
    CHECK_THROWS_AS(one.add("/b", 1.0), InvalidArgument);
    Grouped<Quantiles<double>> other(make, 2);
    other.add("/a", 1.0);
    other.add("/b", 1.0);
    CHECK_THROWS_AS(one.merge(other), InvalidArgument);
    CHECK(one.groups().size() == 3);
    CHECK(one.groups().at("/a").n() == values[1].size());
    Grouped<Frequencies<std::string>> users([] { return Frequencies<std::string>({.eps = 0.01}); });
    for (const auto* user : {"ann", "bob", "ann"}) users.add("/a", std::string_view(user));
    CHECK(users.groups().at("/a").count("ann").lower == 2);
}
