// Quantiles of whole streams: compares every answer with exact ranks.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <limits>
#include <thread>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<double> many_phis() {
    std::vector<double> phis;
    for (int i = 0; i <= 500; ++i) phis.push_back(i / 500.0);
    return phis;
}

// The worst error of a rank, as a fraction of eps n. Checks the bounds of each answer.
template <class T>
double worst_error(const Quantiles<T>& summary, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    REQUIRE(summary.n() == values.size());
    double worst = 0;
    for (const auto& q : summary.quantiles(many_phis())) {
        const auto value = static_cast<double>(q.value);
        worst = std::max(worst, rank_error(values, value, q.rank));
        REQUIRE(q.rank_lower <= q.rank_upper);
        REQUIRE(rank_error(values, value, q.rank_lower) <= static_cast<double>(q.rank_upper - q.rank_lower));
        const auto first = std::lower_bound(values.begin(), values.end(), value) - values.begin() + 1;
        const auto last = std::upper_bound(values.begin(), values.end(), value) - values.begin();
        REQUIRE(static_cast<std::int64_t>(q.rank_upper) >= first);
        REQUIRE(static_cast<std::int64_t>(q.rank_lower) <= last);
    }
    REQUIRE(static_cast<double>(summary.quantile(0).value) == values.front());
    REQUIRE(static_cast<double>(summary.quantile(1).value) == values.back());
    return worst / (summary.eps() * static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE("Quantiles keep eps for every order, eps, and n known, unknown or wrong") {
    constexpr std::size_t n = 200'000;
    for (const auto& order : orders) {
        const auto values = stream(order, n, 5);
        for (const double eps : {1e-1, 1e-2, 1e-3, 1e-4}) {
            for (const std::optional<std::uint64_t> known : {std::optional<std::uint64_t>{}, {n}, {1000}}) {
                CAPTURE(order);
                CAPTURE(eps);
                // Windows as small as the paper's and smaller, so that there are many.
                const auto window = eps < 1e-3 ? 5000U : 137U;
                Quantiles<double> summary({.eps = eps, .n = known, .window = window});
                summary.add(values);
                const double worst = worst_error(summary, values);
                CHECK(worst <= 1);
                MESSAGE(order << ", eps " << eps << ", n " << (known ? std::to_string(*known) : "unknown")
                              << ": worst error " << worst * eps * n << " of " << eps * n << " ranks, "
                              << summary.summary_bytes() << " bytes");
            }
        }
    }
}

TEST_CASE("Quantiles of few values are exact") {
    for (std::size_t n = 1; n < 20; ++n) {
        CAPTURE(n);
        const auto values = stream("random", n, n);
        Quantiles<double> summary({.eps = 0.01});
        for (const double v : values) summary.add(v);
        CHECK(worst_error(summary, values) == 0);
    }
    // The rank is ceil(phi n), even if the product is an integer only up to rounding.
    Quantiles<double> hundred({.eps = 0.001});
    for (int i = 1; i <= 100; ++i) hundred.add(i);
    for (int i = 1; i <= 100; ++i) CHECK(hundred.quantile(i / 100.0).value == i);
    CHECK(hundred.quantile(0.501).value == 51);
}

TEST_CASE_TEMPLATE("Quantiles of every type; NaNs are counted separately, -0 is 0", T, Half, float, double,
                   std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    const auto make = [](double v) {
        if constexpr (std::is_same_v<T, Half>) {
            return Half::from_float(static_cast<float>(v));
        } else {
            return static_cast<T>(v);
        }
    };
    const auto number = [](T v) {
        if constexpr (std::is_same_v<T, Half>) {
            return static_cast<double>(v.value());
        } else {
            return static_cast<double>(v);
        }
    };
    constexpr bool is_float = std::is_same_v<T, Half> || std::is_floating_point_v<T>;
    std::vector<double> exact;
    std::vector<T> values;
    for (int i = 0; i < 2000; ++i) exact.push_back((i * 7919) % 2000);
    if (is_float || std::is_signed_v<T>) {
        for (int i = 0; i < 500; ++i) exact.push_back(-(i * 31 % 500));
    }
    for (const double v : exact) values.push_back(make(v));
    if constexpr (is_float) {
        for (const double v : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
            exact.push_back(v);
            values.push_back(make(v));
        }
        values.insert(values.begin() + 7, make(std::numeric_limits<double>::quiet_NaN()));
        values.push_back(make(-std::numeric_limits<double>::quiet_NaN()));
    }
    Quantiles<T> summary({.eps = 0.01, .window = 64});
    summary.add(values);
    CHECK(summary.n() == exact.size());
    CHECK(summary.nans() == (is_float ? 2 : 0));
    std::sort(exact.begin(), exact.end());
    for (const auto& q : summary.quantiles(many_phis()))
        CHECK(rank_error(exact, number(q.value), q.rank) <= 0.01 * static_cast<double>(exact.size()));
    for (const double v : {0.0, 3.0, 1999.0}) {
        const auto at_most =
            static_cast<std::uint64_t>(std::upper_bound(exact.begin(), exact.end(), v) - exact.begin());
        const auto rank = summary.rank(make(v));
        CHECK(rank.lower <= at_most);
        CHECK(rank.upper >= at_most);
        CHECK(std::abs(static_cast<double>(rank.estimate) - static_cast<double>(at_most)) <=
              0.01 * static_cast<double>(exact.size()));
    }
    if constexpr (is_float) {
        Quantiles<T> zeros;
        for (int i = 0; i < 10; ++i) zeros.add(make(i % 2 == 0 ? 0.0 : -0.0));
        CHECK(!std::signbit(number(zeros.quantile(0).value)));
        CHECK(zeros.rank(make(-0.0)).lower == 10);
        CHECK_THROWS_AS(static_cast<void>(zeros.rank(make(std::nan("")))), InvalidArgument);
    }
}

TEST_CASE("cdf and histogram") {
    auto values = stream("heavy tail", 100'000, 2);
    Quantiles<double> summary({.eps = 0.005, .window = 1000});
    summary.add(values);
    std::sort(values.begin(), values.end());
    const auto n = static_cast<double>(values.size());
    const auto exact = [&](double v) {
        return static_cast<double>(std::upper_bound(values.begin(), values.end(), v) - values.begin());
    };
    for (const double v : {0.0, 1.0, 2.0, 5.0, 100.0, 1e9}) {
        const auto part = summary.cdf(v);
        CHECK(part.lower <= exact(v) / n);
        CHECK(part.upper >= exact(v) / n);
        CHECK(std::abs(part.estimate - exact(v) / n) <= 0.005);
    }
    for (const std::size_t bars : {1U, 2U, 10U, 100U}) {
        const auto histogram = summary.histogram(bars);
        CHECK(!histogram.empty());
        CHECK(histogram.size() <= bars);
        CHECK(histogram.front().from == values.front());
        CHECK(histogram.back().to == values.back());
        double sum = 0;
        for (std::size_t i = 0; i < histogram.size(); ++i) {
            const auto& [from, to, count] = histogram[i];
            if (i > 0) CHECK(from == histogram[i - 1].to);
            const double held = exact(to) - (i > 0 ? exact(from) : 0);
            CHECK(static_cast<double>(count.lower) <= held);
            CHECK(static_cast<double>(count.upper) >= held);
            CHECK(std::abs(static_cast<double>(count.estimate) - held) <= 2 * 0.005 * n);
            sum += static_cast<double>(count.estimate);
        }
        CHECK(sum == n);
    }
    Quantiles<double> same({.eps = 0.01});
    for (int i = 0; i < 50; ++i) same.add(7);
    const auto histogram = same.histogram(10);
    REQUIRE(histogram.size() == 1);
    CHECK(histogram[0].from == 7);
    CHECK(histogram[0].to == 7);
    CHECK(histogram[0].count == Count{50, 50, 50});
}

TEST_CASE("Quantiles merge, in any order and of different eps, and keep the larger") {
    for (const auto& order : orders) {
        CAPTURE(order);
        std::vector<double> all;
        std::vector<Quantiles<double>> parts;
        for (std::size_t i = 0; i < 20; ++i) {
            const auto values = stream(order, 500 + 1777 * (i % 4), i);
            all.insert(all.end(), values.begin(), values.end());
            parts.emplace_back(QuantileOptions{.eps = i % 5 == 0 ? 0.004 : 0.01,
                                               .n = i % 3 == 0 ? std::optional<std::uint64_t>(6000) : std::nullopt,
                                               .window = 100 + 13 * i});
            parts.back().add(values);
        }
        Quantiles<double> forward({.eps = 0.001, .window = 64}), tree = Quantiles<double>::load(parts[7].save());
        for (const auto& part : parts) forward.merge(part);
        for (std::size_t i = 20; i-- > 0;) {
            if (i != 7) tree.merge(parts[i]);
        }
        CHECK(forward.eps() == 0.01);
        CHECK(worst_error(forward, all) <= 1);
        CHECK(worst_error(tree, all) <= 1);
        forward.merge(forward);
        const auto copy = all;
        all.insert(all.end(), copy.begin(), copy.end());
        CHECK(worst_error(forward, all) <= 1);
    }
}

TEST_CASE("A thousand summaries of a stream that is spread over machines keep eps and stay small") {
    std::vector<double> all;
    Quantiles<double> sum({.eps = 0.01, .window = 256});
    for (std::size_t i = 0; i < 1000; ++i) {
        const auto values = stream(orders[i % 3], 300, i);
        all.insert(all.end(), values.begin(), values.end());
        Quantiles<double> part({.eps = 0.01, .window = 256});
        part.add(values);
        sum.merge(part);
    }
    CHECK(worst_error(sum, all) <= 1);
    CHECK(sum.summary_bytes() < 400'000);
}

TEST_CASE("Saved quantiles load with the same answers, and take more values") {
    const auto values = stream("heavy tail", 30'000, 1);
    for (const std::size_t n : {0U, 1U, 99U, 100U, 101U, 30'000U}) {
        CAPTURE(n);
        Quantiles<float> summary({.eps = 0.02, .window = 100});
        for (std::size_t i = 0; i < n; ++i) summary.add(static_cast<float>(values[i]));
        summary.add(std::numeric_limits<float>::quiet_NaN());
        const auto bytes = summary.save();
        auto loaded = Quantiles<float>::load(bytes);
        CHECK(loaded.save() == bytes);
        CHECK(loaded.n() == n);
        CHECK(loaded.nans() == 1);
        CHECK(loaded.eps() == 0.02);
        CHECK(saved_summary(bytes).kind == SavedSummary::Kind::Quantiles);
        CHECK(saved_summary(bytes).type == KeyType::F32);
        summary.add(std::vector<float>(1000, 3.0F));
        loaded.add(std::vector<float>(1000, 3.0F));
        CHECK(loaded.save() == summary.save());
        CHECK_THROWS_AS(static_cast<void>(Quantiles<double>::load(bytes)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(Frequencies<float>::load(bytes)), InvalidArgument);
    }
}

TEST_CASE("The same answers with every sorter, however the values arrive, and whenever it was queried") {
    const auto doubles = stream("random", 50'000, 9);
    const std::vector<float> values(doubles.begin(), doubles.end());
    Quantiles<float> one({.eps = 0.01, .window = 1000}), two({.eps = 0.01, .window = 1000}, cpu_window_sorter(3));
    one.add(values);
    std::mt19937 random(4);
    for (std::size_t i = 0; i < values.size();) {
        const auto part = std::min<std::size_t>(random() % 3000, values.size() - i);
        two.add(std::span(values).subspan(i, part));
        i += part;
        if (i > 0) CHECK(two.quantile(0.5).rank == (two.n() + 1) / 2);
    }
    CHECK(one.save() == two.save());
}

TEST_CASE("Wrong queries are refused") {
    const auto refused = [](const auto& work, const char* words) {
        try {
            work();
            FAIL("not refused: " << words);
        } catch (const InvalidArgument& error) {
            CHECK_MESSAGE(std::strstr(error.what(), words) != nullptr, error.what());
        }
    };
    refused([] { Quantiles<float>({.eps = 0}); }, "eps must be from 1e-9 to 0.5");
    refused([] { Quantiles<float>({.eps = std::nan("")}); }, "eps");
    refused([] { Quantiles<float>({.eps = 0.1, .window = std::size_t{1} << 40U}); }, "2^28");
    Quantiles<float> summary;
    refused([&] { static_cast<void>(summary.quantile(0.5)); }, "no values yet");
    refused([&] { static_cast<void>(summary.histogram(0)); }, "bar");
    CHECK(summary.histogram(3).empty());
    CHECK(summary.rank(1) == Count{});
    summary.add(1);
    refused([&] { static_cast<void>(summary.quantile(1.5)); }, "phi must be");
    refused([&] { static_cast<void>(summary.quantile(std::nan(""))); }, "phi must be");
}

TEST_CASE("While nothing was dropped, answers and bounds are exact") {
    constexpr std::uint64_t n = 1000;
    Quantiles<float> quantiles, merged;
    Frequencies<float> frequencies, counts({.eps = 0.1});
    std::vector<float> values;
    for (std::uint64_t i = 1; i <= n; ++i) values.push_back(static_cast<float>(i * 7 % 1009));
    quantiles.add(values);
    for (std::size_t i = 0; i < n; i += 100) {
        Quantiles<float> part;
        part.add(std::span(values).subspan(i, 100));
        merged.merge(Quantiles<float>::load(part.save()));
        Frequencies<float> some;
        some.add(std::span(values).subspan(i, 100));
        frequencies.merge(Frequencies<float>::load(some.save()));
    }
    counts.add(values);
    const auto exact = [&](const Quantiles<float>& of, const std::vector<float>& sorted) {
        for (const auto& q : of.quantiles(many_phis())) {
            CHECK(q.value == sorted[static_cast<std::size_t>(q.rank - 1)]);
            CHECK(q.rank_lower == q.rank);
            CHECK(q.rank_upper == q.rank);
        }
        const auto rank = of.rank(sorted[300]);
        CHECK(rank == Count{301, 301, 301});
    };
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    exact(quantiles, sorted);
    exact(merged, sorted);
    exact(Quantiles<float>::load(quantiles.save()), sorted);
    CHECK(frequencies.count(7) == Count{1, 1, 1});
    CHECK(frequencies.count(7.5F) == Count{});
    CHECK(counts.count(7) == Count{1, 1, 1});  // eps n is 100
    CHECK(counts.count(-1) == Count{});
}

TEST_CASE("Values of an incomplete window are saved and merged as a sample if that is shorter") {
    const auto values = stream("random", 60'000, 12);
    Quantiles<double> once({.eps = 0.01, .window = 1U << 20U}), sum({.eps = 0.01, .window = 1U << 20U});
    once.add(values);
    const auto bytes = once.save();
    CHECK(bytes.size() < 3000);
    CHECK(worst_error(Quantiles<double>::load(bytes), values) <= 1);
    CHECK(worst_error(once, values) == 0);  // saving does not change it
    CHECK(once.save() == bytes);
    std::vector<double> all;
    for (int i = 0; i < 200; ++i) {
        sum = Quantiles<double>::load(sum.save());
        const auto part = std::span(values).subspan(static_cast<std::size_t>(i) * 10, 5000);
        sum.add(part);
        all.insert(all.end(), part.begin(), part.end());
        if (i % 3 == 0) {
            sum.merge(once);
            all.insert(all.end(), values.begin(), values.end());
        }
    }
    CHECK(worst_error(sum, all) <= 1);
    CHECK(sum.save().size() < 60'000);
    Frequencies<double> counts({.eps = 0.001, .window = 1U << 20U});
    counts.add(values);
    CHECK(counts.save().size() < 20'000);
    CHECK(Frequencies<double>::load(counts.save()).n() == values.size());
}

TEST_CASE("A long stream is saved in few bytes, and takes little more memory") {
    Quantiles<float> summary({.eps = 0.01, .window = 1024});
    std::mt19937 random(6);
    std::vector<float> values(100'000);
    for (int i = 0; i < 20; ++i) {
        for (auto& v : values) v = static_cast<float>(random()) * 0x1p-32F;
        summary.add(values);
    }
    CHECK(summary.save().size() < 20'000);  // 2 M values; 5 M of them with an eps of 0.001 take 200 KB
    CHECK(summary.summary_bytes() < 2 * 20'000);
}

TEST_CASE("Concurrent queries of several threads, which change nothing visible") {
    const auto values = stream("random", 40'000, 13);
    std::vector<float> x(values.begin(), values.end());
    Quantiles<double> quantiles({.eps = 0.01, .window = 1000}, cpu_window_sorter(2));
    Frequencies<double> frequencies({.eps = 0.01, .window = 1000}, cpu_window_sorter(2));
    SlidingQuantiles<double> sliding({.eps = 0.1, .window = 30'000}), kept({.eps = 0.01, .window = 5000});
    HeavyPrefixes<std::uint32_t> prefixes({.eps = 0.02, .support = 0.1, .lengths = {8, 32}});
    CorrelatedSums<float> sums({.eps = 0.01, .window = 1000});
    for (auto* q : {&sliding, &kept}) q->add(values);
    quantiles.add(values);
    frequencies.add(values);
    for (const double v : values) prefixes.add(static_cast<std::uint32_t>(v));
    sums.add(x, values);
    const auto bytes = quantiles.summary_bytes();
    const auto ask = [&] {
        std::vector<double> all;
        for (const auto& q : quantiles.quantiles(many_phis())) all.push_back(q.value);
        all.push_back(static_cast<double>(quantiles.rank(7).estimate));
        all.push_back(static_cast<double>(quantiles.histogram(5).size()));
        all.push_back(static_cast<double>(frequencies.frequent(0.01).size()));
        all.push_back(static_cast<double>(frequencies.count(5).estimate));
        all.push_back(sliding.quantile(0.4).value);
        all.push_back(kept.quantile(0.4).value);
        all.push_back(static_cast<double>(sliding.summary().n()));
        all.push_back(static_cast<double>(prefixes.heavy(0.2).size()));
        all.push_back(sums.sum({}).sum);
        Quantiles<double> other({.eps = 0.01});
        other.merge(quantiles);
        all.push_back(other.quantile(0.3).value);
        all.push_back(static_cast<double>(quantiles.save().size() + sums.save().size() + sliding.save().size()));
        all.push_back(static_cast<double>(quantiles.bytes() > 0));
        return all;
    };
    std::array<std::vector<double>, 4> found;
    std::vector<std::thread> threads;
    for (auto& one : found) threads.emplace_back([&] { one = ask(); });
    for (auto& thread : threads) thread.join();
    for (const auto& one : found) CHECK(one == found.front());
    CHECK(ask() == found.front());
    CHECK(quantiles.summary_bytes() == bytes);
}

TEST_CASE_TEMPLATE("Values added one at a time are those added together", T, Half, float, double, std::int32_t,
                   std::uint64_t) {
    std::vector<T> values;
    for (const auto v : stream("random", 20'000, 6)) {
        if constexpr (std::is_same_v<T, Half>) {
            values.push_back(Half::from_float(static_cast<float>(v)));
        } else {
            values.push_back(static_cast<T>(v));
        }
    }
    if constexpr (std::is_same_v<T, float>) {
        values[7] = values[12'345] = std::numeric_limits<float>::quiet_NaN();
        values[8] = -0.0F;
    }
    Quantiles<T> together({.eps = 0.01, .window = 300}), alone({.eps = 0.01, .window = 300});
    Frequencies<T> counts({.eps = 0.01}), counts_alone({.eps = 0.01});
    together.add(values);
    counts.add(values);
    for (const auto value : values) {
        alone.add(value);
        counts_alone.add(value);
    }
    CHECK(alone.n() == together.n());
    CHECK(alone.nans() == together.nans());
    CHECK(alone.save() == together.save());
    CHECK(counts_alone.save() == counts.save());
}

TEST_CASE("A thousand summaries of 200,000 values take 50 MB, also when they have been asked and saved") {
    constexpr std::size_t each = 50'000, n = 200'000;
    for (const auto& order : orders) {
        CAPTURE(order);
        const auto values = stream(order, n, 8);
        Quantiles<double> at_once({.eps = 0.01}), alone({.eps = 0.01});
        at_once.add(values);
        for (const auto value : values) alone.add(value);
        const auto check = [&](const Quantiles<double>& summary) {
            CHECK(summary.bytes() <= each);
            CHECK(worst_error(summary, values) <= 1);
            CHECK(summary.save() == at_once.save());
            CHECK(summary.bytes() <= each);
        };
        check(at_once);
        check(alone);
        for (const std::size_t part : {10U, 333U, 1000U, 3000U}) {
            CAPTURE(part);
            Quantiles<double> in_parts({.eps = 0.01});
            for (std::size_t i = 0; i < n; i += part) in_parts.add(std::span(values).subspan(i, std::min(part, n - i)));
            check(in_parts);
        }
    }
}

TEST_CASE("A stream that proves long gives the same answers") {
    const auto values = stream("random", 3'000'000, 8);
    Quantiles<double> at_once({.eps = 0.01}), in_parts({.eps = 0.01});
    at_once.add(values);
    for (std::size_t i = 0; i < values.size(); i += 50'000) {
        in_parts.add(std::span(values).subspan(i, 50'000));
        static_cast<void>(in_parts.quantile(0.5));
    }
    CHECK(in_parts.save() == at_once.save());
}
