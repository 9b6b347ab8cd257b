// Summaries that many threads fill (run with the thread sanitizer, too), those of the last seconds, and of groups, and
// their saved bytes.
#include "quadmill/concurrent.hpp"

#include <doctest/doctest.h>

#include <random>
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

TEST_CASE("Saved groups go on as if they had not been saved") {
    const auto make = [] { return Quantiles<double>({.eps = 0.02, .window = 64, .moments = Moments::Kept}); };
    using Groups = Grouped<Quantiles<double>>;
    Groups kept(make, 5), other(make, 5);
    CHECK(Groups::load(kept.save()).save() == kept.save());
    std::mt19937_64 random(6);
    const std::vector<std::string> names{"", "/film", std::string("\0x", 2), "\xff",
                                         "a much longer name than fits in place"};
    for (std::size_t round = 0; round < 6; ++round) {
        auto loaded = Groups::load(kept.save(), 5);
        for (int i = 0; i < 3'000; ++i) {
            const auto& name = names[random() % std::min<std::size_t>(round + 1, 5)];  // round by round more groups
            const auto value = static_cast<double>(random() % 10'000);
            kept.add(name, value);
            loaded.add(name, value);
            other.add(names[random() % 5], value);
        }
        // A summary that has been saved may drop other values than one that has not, and both are within eps.
        REQUIRE(loaded.groups().size() == kept.groups().size());
        for (const auto& [name, summary] : kept.groups()) {
            const auto& same = loaded.groups().at(name);
            CHECK(same.n() == summary.n());
            CHECK(same.stats().mean == doctest::Approx(summary.stats().mean));
            CHECK(same.quantile(1).value == summary.quantile(1).value);
        }
        const auto bytes = loaded.save();
        CHECK(Groups::load(bytes).save() == bytes);
        loaded.merge(Groups::load(other.save()));
        CHECK(loaded.groups().at("").n() == kept.groups().at("").n() + other.groups().at("").n());
        kept = Groups::load(bytes, 5);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(Groups::load(kept.save(), 4)), doctest::Contains("max_groups allows 4"),
                         InvalidArgument);
    CHECK_THROWS_WITH_AS(kept.add("a sixth", 1.0), doctest::Contains("max_groups allows 5"), InvalidArgument);
    const auto found = saved_summary(kept.save());
    CHECK((found.kind == SavedSummary::Kind::Groups && found.type == KeyType::F64));
    CHECK(found.parts == SavedSummary::Kind::Quantiles);
    CHECK_THROWS_WITH_AS(static_cast<void>(Grouped<Quantiles<float>>::load(kept.save())),
                         doctest::Contains("another type"), InvalidArgument);
    CHECK_THROWS_WITH_AS(static_cast<void>(Recent<Quantiles<double>>::load(kept.save())),
                         doctest::Contains("another kind"), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(Quantiles<double>::load(kept.save())), InvalidArgument);
    // Groups of summaries that have no type, and of those that need more to be read.
    Grouped<Distinct> users([] { return Distinct(); });
    users.add("/a", std::string_view("ann"));
    CHECK(Grouped<Distinct>::load(users.save()).groups().at("/a").count().estimate == 1);
    const auto twice = [](double y) { return 2 * y; };
    Grouped<CorrelatedSums<double>> sums([&] { return CorrelatedSums<double>({.g = twice}); });
    const std::vector<double> one{1};
    sums.add("s", std::span(one), std::span(one));
    auto read = Grouped<CorrelatedSums<double>>::load(
        sums.save(), 10, [&](std::span<const std::byte> bytes) { return CorrelatedSums<double>::load(bytes, twice); });
    read.add("s", std::span(one), std::span(one));
    read.add("t", std::span(one), std::span(one));
    CHECK(read.groups().at("s").sum({Aggregate::Kind::Max}).sum == 4);
    CHECK(read.groups().at("t").sum({Aggregate::Kind::Max}).sum == 2);
}

TEST_CASE("Saved summaries of the last seconds go on as if they had not been saved") {
    for (const double start : {-1e9, 0.0, 1.8e9}) {
        Recent<Frequencies<std::string>> kept(
            10, [] { return Frequencies<std::string>({.eps = 0.01}); }, 8);
        auto loaded = Recent<Frequencies<std::string>>::load(kept.save());
        CHECK(!loaded.latest());
        std::mt19937_64 random(7);
        double now = start;
        for (int i = 0; i < 1'000; ++i) {
            const auto name = std::to_string(random() % 7);
            now += static_cast<double>(random() % 100) / 1'000 + (i % 200 == 0 ? 12 : 0);
            const auto time = now - (i % 50 == 7 ? 15 : 0);
            kept.add(time, std::string_view(name));
            loaded.add(time, std::string_view(name));
            if (random() % 10 != 0) continue;
            const auto bytes = loaded.save();
            REQUIRE(bytes == kept.save());
            loaded = Recent<Frequencies<std::string>>::load(bytes);
            CHECK(loaded.summary(now).save() == kept.summary(now).save());
        }
        CHECK((loaded.late() > 0 && loaded.late() == kept.late() && loaded.latest() == now && loaded.seconds() == 10));
    }
}

TEST_CASE("Parts that do not go together are refused") {
    using detail::stream::SavedParts;
    const auto quantiles = Quantiles<float>().save(), tail = Quantiles<float>({.tail = Tail::High}).save(),
               doubles = Quantiles<double>().save();
    const auto load_groups = [](const SavedParts& parts) {
        static_cast<void>(Grouped<Quantiles<float>>::load(parts.save()));
    };
    const auto load_panes = [](const SavedParts& parts) {
        static_cast<void>(Recent<Quantiles<float>>::load(parts.save()));
    };
    const SavedParts groups{.kind = SavedSummary::Kind::Groups, .empty = quantiles};
    load_groups(groups);
    const auto with = [&](std::vector<SavedParts::Part> parts) {
        auto all = groups;
        all.parts = std::move(parts);
        return all;
    };
    load_groups(with({{.name = "a", .summary = quantiles}, {.name = "b", .summary = quantiles}}));
    for (const auto& wrong : {with({{.name = "b", .summary = quantiles}, {.name = "a", .summary = quantiles}}),
                              with({{.name = "a", .summary = quantiles}, {.name = "a", .summary = quantiles}}),
                              with({{.name = "a", .summary = tail}}), with({{.name = "a", .summary = doubles}}),
                              SavedParts{.kind = SavedSummary::Kind::Groups, .empty = groups.save()}})
        CHECK_THROWS_AS(load_groups(wrong), InvalidArgument);
    const SavedParts panes{.kind = SavedSummary::Kind::LastSeconds,
                           .empty = quantiles,
                           .parts = {{.index = -3, .summary = quantiles}, {.index = 1, .summary = quantiles}},
                           .seconds = 4,
                           .panes = 4,
                           .latest = 1.5};
    load_panes(panes);
    const auto but = [&](const auto& change) {
        auto all = panes;
        change(all);
        return all;
    };
    for (const auto& wrong :
         {but([](auto& p) { p.seconds = 0; }), but([](auto& p) { p.seconds = std::nan(""); }),
          but([](auto& p) { p.panes = 0; }), but([](auto& p) { p.panes = std::uint64_t{1} << 40U; }),
          but([](auto& p) { p.panes = 3; }), but([](auto& p) { p.latest = {}; }), but([](auto& p) { p.latest = 0.5; }),
          but([](auto& p) { p.latest = 1e300; }), but([](auto& p) { p.parts[1].index = 2; })})
        CHECK_THROWS_AS(load_panes(wrong), InvalidArgument);
}
