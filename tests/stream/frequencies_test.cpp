// Lossy counts of whole streams, heavy prefixes and correlated sums: bounds against exact counts and sums.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <limits>

#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "stream/exact_sum.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

// The worst that a count is too low, of those that are frequent; checks that none is missing and none too rare.
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

TEST_CASE("Frequencies keep eps, miss nothing frequent and stay small, for every order, eps and window") {
    constexpr std::size_t n = 50'000;
    for (const auto& order : orders) {
        const auto values = stream(order, n, 11);
        for (const double eps : {1e-1, 1e-2, 1e-3, 1e-4}) {
            // The paper's window, others that do not fit to it, and the default.
            for (const std::size_t window : {static_cast<std::size_t>(std::ceil(1 / eps)), std::size_t{777},
                                             static_cast<std::size_t>(50 / eps), std::size_t{0}}) {
                CAPTURE(order);
                CAPTURE(eps);
                CAPTURE(window);
                Frequencies<double> summary({.eps = eps, .window = window});
                std::size_t most_bytes = 0;
                for (std::size_t i = 0; i < n; i += 5000) {
                    summary.add(std::span(values).subspan(i, 5000));
                    most_bytes = std::max(most_bytes, summary.summary_bytes());
                }
                double worst = 0;
                for (const double support : {eps, 0.1, 0.5})
                    worst = std::max(worst, worst_count(summary, values, std::max(support, eps)));
                CHECK(worst <= eps * n);
                // Manku and Motwani's bound, (1 / eps) log(eps N), for entries; a window of 1 / eps more is on its way.
                const double entries = static_cast<double>(most_bytes) / 24;
                const double bound = (1 / eps) * std::max(std::log(eps * n), 1.0) + 1 / eps;
                CHECK(entries <= bound);
                if (window == 0) {
                    MESSAGE(order << ", eps " << eps << ": worst count " << worst << " too low of " << eps * n << ", "
                                  << most_bytes << " bytes of " << 24 * bound);
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

namespace {

struct Node {
    int length;
    std::uint32_t value;
    auto operator<=>(const Node&) const = default;
};

std::uint32_t top_bits(std::uint32_t value, int length) {
    return length == 0 ? 0 : value >> static_cast<unsigned>(32 - length) << static_cast<unsigned>(32 - length);
}

// Exact counts of what is under each prefix, and under none of `heavy` that is longer.
std::map<Node, std::uint64_t> discounted(const std::vector<std::uint32_t>& values, const std::vector<int>& lengths,
                                         const std::vector<Node>& heavy) {
    std::map<Node, std::uint64_t> counts;
    for (const auto v : values) {
        for (std::size_t i = lengths.size(); i-- > 0;) {
            const Node node{lengths[i], top_bits(v, lengths[i])};
            ++counts[node];
            if (std::binary_search(heavy.begin(), heavy.end(), node)) break;
        }
    }
    return counts;
}

}  // namespace

TEST_CASE("Heavy prefixes: none is missed, bounds of counts and of discounted counts hold and are eps n wide at most") {
    std::mt19937 random(3);
    for (const auto& lengths :
         {std::vector<int>{0, 8, 16, 24, 32}, {32}, {0, 3, 17, 18, 32}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}) {
        for (const double eps : {0.004, 0.02}) {
            for (const std::size_t window : {std::size_t{0}, std::size_t{1000}}) {
                CAPTURE(lengths.size());
                CAPTURE(eps);
                constexpr double support = 0.05;
                std::vector<std::uint32_t> values;
                for (int i = 0; i < 30'000; ++i) {
                    const auto kind = random() % 20;
                    if (kind < 3)
                        values.push_back(0x0a010203);  // one address
                    else if (kind < 7)
                        values.push_back(0x0a010000U | (random() % 65536));  // a /16
                    else if (kind < 9)
                        values.push_back(0xc0a80100U | (random() % 256));  // a /24
                    else
                        values.push_back(static_cast<std::uint32_t>(random()) >> (i % 7));
                }
                HeavyPrefixes<std::uint32_t> summary(
                    {.eps = eps, .support = support, .lengths = lengths, .window = window});
                HeavyPrefixes<std::uint32_t> other({.eps = eps / 2, .support = support, .lengths = lengths});
                summary.add(std::span(values).first(20'000));
                other.add(std::span(values).subspan(20'000));
                summary.merge(HeavyPrefixes<std::uint32_t>::load(other.save()));
                REQUIRE(summary.n() == values.size());
                const auto n = static_cast<double>(values.size());
                for (const double s : {support, 0.1, 0.3}) {
                    const auto found = summary.heavy(s);
                    std::vector<Node> heavy;
                    for (const auto& p : found) heavy.push_back({p.length, p.value});
                    std::sort(heavy.begin(), heavy.end());
                    const auto whole = discounted(values, lengths, {});
                    auto exact = discounted(values, lengths, heavy);
                    for (const auto& p : found) {
                        const Node node{p.length, p.value};
                        CHECK(p.count.lower <= whole.at(node));
                        CHECK(p.count.upper >= whole.at(node));
                        CHECK(static_cast<double>(p.count.upper - p.count.lower) <= eps * n);
                        CHECK(p.discounted.lower <= exact[node]);
                        CHECK(p.discounted.upper >= exact[node]);
                        CHECK(p.discounted.estimate >= p.discounted.lower);
                        CHECK(p.discounted.estimate <= p.discounted.upper);
                        CHECK(static_cast<double>(p.discounted.upper - p.discounted.lower) <= eps * n);
                        CHECK(static_cast<double>(exact[node]) >= (s - eps) * n);
                    }
                    for (const auto& [node, count] : exact) {
                        if (static_cast<double>(count) >= s * n)
                            CHECK(std::binary_search(heavy.begin(), heavy.end(), node));
                    }
                }
                const auto bytes = summary.save();
                CHECK(HeavyPrefixes<std::uint32_t>::load(bytes).save() == bytes);
            }
        }
    }
}

TEST_CASE("All heavy prefixes: every one with enough values under it, and none with too few") {
    std::mt19937 random(9);
    std::vector<std::uint32_t> values;
    for (int i = 0; i < 20'000; ++i) {
        const auto kind = random() % 10;
        values.push_back(kind < 4   ? 0x0a010203U
                         : kind < 6 ? 0x0a010000U | (random() % 4096)
                                    : static_cast<std::uint32_t>(random()));
    }
    const std::vector<int> lengths{0, 4, 8, 16, 24, 32};
    constexpr double eps = 0.01;
    const auto n = static_cast<double>(values.size());
    HeavyPrefixes<std::uint32_t> summary({.eps = eps, .support = 0.05, .lengths = lengths, .window = 1500});
    summary.add(values);
    const auto whole = discounted(values, {0}, {});
    REQUIRE(whole.begin()->second == values.size());
    for (const double s : {0.05, 0.2, 0.45, 1.0}) {
        std::map<Node, std::uint64_t> counts;
        for (const auto v : values) {
            for (const int length : lengths) ++counts[{length, top_bits(v, length)}];
        }
        const auto found = summary.heavy(s, HeavyRule::All);
        std::vector<Node> nodes;
        for (const auto& p : found) {
            const Node node{p.length, p.value};
            nodes.push_back(node);
            CHECK(p.count.lower <= counts.at(node));
            CHECK(p.count.upper >= counts.at(node));
            CHECK(static_cast<double>(counts.at(node)) >= (s - eps) * n);
        }
        std::sort(nodes.begin(), nodes.end());
        auto left = discounted(values, lengths, nodes);
        for (const auto& p : found) {
            CHECK(p.discounted.lower <= left[{p.length, p.value}]);
            CHECK(p.discounted.upper >= left[{p.length, p.value}]);
        }
        for (const auto& [node, count] : counts) {
            if (static_cast<double>(count) >= s * n) CHECK(std::binary_search(nodes.begin(), nodes.end(), node));
        }
        // Under 10.1.2.3 are the 4 tenths that make all of its shorter prefixes heavy, too.
        if (s == 0.2) CHECK(found.size() > summary.heavy(s).size());
    }
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

TEST_CASE("Heavy prefixes of 64-bit values, and what is refused") {
    HeavyPrefixes<std::uint64_t> wide({.eps = 0.01, .support = 0.1, .lengths = {0, 1, 63, 64}});
    for (std::uint64_t i = 0; i < 1000; ++i) wide.add(i % 2 == 0 ? ~std::uint64_t{0} : i << 40U);
    const auto found = wide.heavy(0.4);
    REQUIRE(found.size() == 2);
    CHECK(found[0].length == 64);
    CHECK(found[0].value == ~std::uint64_t{0});
    CHECK(found[0].count.lower == 500);
    CHECK(found[1].length == 1);
    CHECK(found[1].discounted == Count{500, 500, 500});
    using Wide = HeavyPrefixes<std::uint64_t>;
    CHECK_THROWS_AS(Wide({.eps = 0.1, .support = 0.1, .lengths = {8}}), InvalidArgument);
    CHECK_THROWS_AS(Wide({.eps = 0.01, .support = 0.1, .lengths = {}}), InvalidArgument);
    CHECK_THROWS_AS(Wide({.eps = 0.01, .support = 0.1, .lengths = {8, 8}}), InvalidArgument);
    CHECK_THROWS_AS(Wide({.eps = 0.01, .support = 0.1, .lengths = {8, 65}}), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(wide.heavy(0.05)), InvalidArgument);
}

TEST_CASE_TEMPLATE("Correlated sums: bounds hold, and the sum is that of a threshold of nearly that rank", T, Half,
                   float, double, std::int32_t, std::int64_t) {
    const auto make = [](double v) {
        if constexpr (std::is_same_v<T, Half>) {
            return Half::nearest(static_cast<float>(v));
        } else {
            return static_cast<T>(v);
        }
    };
    for (const auto& order : orders) {
        for (const double eps : {0.1, 0.01, 0.001}) {
            for (const bool negative : {false, true}) {
                CAPTURE(order);
                CAPTURE(eps);
                CAPTURE(negative);
                constexpr std::size_t n = 20'000;
                auto xs = stream(order, n, 21);
                std::mt19937 random(5);
                std::vector<T> x;
                std::vector<double> y;
                double magnitude = 0, sum_x = 0;
                for (auto& v : xs) {
                    v = std::fmod(v, 1999);  // which a half holds exactly
                    x.push_back(make(v));
                    sum_x += v;
                    // Some weights are so large that few pairs make most of the sum.
                    y.push_back(static_cast<double>(random() % (random() % 50 == 0 ? 100'000 : 100)) -
                                (negative ? 40.0 : 0.0));
                    magnitude += std::abs(y.back());
                }
                CorrelatedSums<T> sums({.eps = eps, .window = 700}), second({.eps = eps / 2, .window = 900});
                sums.add(std::span(x).first(15'000), std::span(y).first(15'000));
                second.add(std::span(x).subspan(15'000), std::span(y).subspan(15'000));
                sums.merge(CorrelatedSums<T>::load(second.save()));
                const auto bytes = sums.save();
                CHECK(CorrelatedSums<T>::load(bytes).save() == bytes);
                REQUIRE(sums.n() == n);
                const auto exact = [&](double threshold) {
                    double sum = 0;
                    for (std::size_t i = 0; i < n; ++i) sum += xs[i] <= threshold ? y[i] : 0;
                    return sum;
                };
                auto sorted = xs;
                std::sort(sorted.begin(), sorted.end());
                const auto check = [&](const Aggregate& aggregate, double aggregated, double scale, double offset) {
                    const auto f = [=](double v) { return scale * v + offset; };
                    const auto got = sums.sum(aggregate, f);
                    const double want = exact(f(aggregated)), slack = 1e-9 * magnitude;
                    CHECK(got.lower <= want + slack);
                    CHECK(got.upper >= want - slack);
                    CHECK(got.sum >= got.lower - slack);
                    CHECK(got.sum <= got.upper + slack);
                    CHECK(std::abs(got.sum - exact(got.threshold)) <= eps * magnitude + slack);
                    return got;
                };
                for (const double phi : {0.0, 0.1, 0.5, 0.77, 1.0}) {
                    const auto rank = std::max<std::size_t>(static_cast<std::size_t>(std::ceil(phi * n)), 1);
                    const auto got = check({Aggregate::Kind::Quantile, phi}, sorted[rank - 1], 1, 0);
                    CHECK(rank_error(sorted, got.threshold, rank) <= eps * n);
                    check({Aggregate::Kind::Quantile, phi}, sorted[rank - 1], -0.5, 700);
                }
                check({Aggregate::Kind::Min}, sorted.front(), 1, 3);
                check({Aggregate::Kind::Max}, sorted.back(), 0.9, 0);
                check({Aggregate::Kind::Max}, sorted.back(), 1, -1e30);
                check({Aggregate::Kind::Average}, sum_x / n, 1, 0);
                check({Aggregate::Kind::Count}, n, 0.05, 0);
                check({Aggregate::Kind::Sum}, sum_x, 0.5 / n, 0);
            }
        }
    }
}

TEST_CASE("Correlated sums up to the average of equal values have all of them") {
    for (const double x : {0.1, -0.7, 1e300, 3.0}) {
        CorrelatedSums<double> sums;
        const std::vector<double> xs(1000, x), ones(1000, 1.0);
        sums.add(xs, ones);
        const auto got = sums.sum({Aggregate::Kind::Average});
        CHECK(got.threshold == x);
        CHECK(got.sum == 1000);
        CHECK(got.lower <= 1000);
        CHECK(got.upper == 1000);
    }
    // A plan for more values than can be.
    CorrelatedSums<double>({.eps = 0.1, .n = ~std::uint64_t{0}, .window = 1}).add(std::vector{1.0}, std::vector{1.0});
}

TEST_CASE("Correlated sums: g, NaN, and what is refused") {
    CorrelatedSums<float> squares({.g = [](double v) { return v * v; }});
    const std::vector<float> x{1, 2, std::numeric_limits<float>::quiet_NaN(), 3, 4};
    const std::vector<double> y{1, 2, 3, std::nan(""), 5};
    squares.add(x, y);
    CHECK(squares.n() == 3);
    CHECK(squares.nans() == 2);
    const auto got = squares.sum({Aggregate::Kind::Quantile, 0.5});
    CHECK(got.threshold == 2);
    CHECK(got.sum == 5);
    CHECK(got.lower == 5);
    CHECK(got.upper == 5);
    CHECK(squares.sum({Aggregate::Kind::Max}).sum == 30);
    CHECK_THROWS_AS(squares.add(x, std::span(y).first(2)), InvalidArgument);
    CHECK_THROWS_AS(squares.add(std::span(x).first(1), std::vector<double>{1e300}), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(squares.sum({}, [](double) { return std::nan(""); })), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(CorrelatedSums<float>().sum({})), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(squares.sum({Aggregate::Kind::Quantile, 2})), InvalidArgument);
}

TEST_CASE("A threshold is told exactly where x can be just that, and f must rise or fall") {
    CorrelatedSums<std::int64_t> sums;
    const std::int64_t large = 1'700'000'000'000'000'001;
    sums.add(std::vector<std::int64_t>{large, large + 2, large + 2}, std::vector{1.0, 10.0, 100.0});
    CHECK(sums.sum({Aggregate::Kind::Min}).exact == large);
    CHECK(sums.sum({Aggregate::Kind::Min}, Affine{1, 1}).exact == large + 1);
    CHECK(sums.sum({Aggregate::Kind::Min}, Affine{1, 0.5}).exact == std::nullopt);
    CHECK(sums.sum({Aggregate::Kind::Min}, Affine{1e9, 0}).exact == std::nullopt);  // no 64-bit integer
    CHECK(sums.sum({Aggregate::Kind::Average}).exact == std::nullopt);              // a third is left over
    CHECK(sums.sum({Aggregate::Kind::Count}).exact == 3);
    CHECK(sums.sum({Aggregate::Kind::Count}, Affine{5e17, 0}).exact == 1'500'000'000'000'000'000);
    CHECK(sums.sum({Aggregate::Kind::Sum}, Affine{0.5, 0}).exact == std::nullopt);
    CHECK(sums.sum({Aggregate::Kind::Sum}).exact == 3 * large + 4);
    CHECK(sums.sum({Aggregate::Kind::Sum}).sum == 111);
    CorrelatedSums<std::uint64_t> wide;
    wide.add(std::vector{~std::uint64_t{0}, ~std::uint64_t{0}}, std::vector{1.0, 2.0});
    CHECK(wide.sum({Aggregate::Kind::Max}).exact == ~std::uint64_t{0});
    CHECK(wide.sum({Aggregate::Kind::Sum}).exact == std::nullopt);
    CorrelatedSums<float> floats;
    floats.add(std::vector{-2.0F, -1.0F, 0.5F, 3.0F}, std::vector{1.0, 10.0, 100.0, 1000.0});
    CHECK(floats.sum({Aggregate::Kind::Quantile, 0.5}).exact == -1.0F);
    CHECK(floats.sum({Aggregate::Kind::Sum}).exact == 0.5F);
    CHECK(floats.sum({Aggregate::Kind::Sum}, Affine{0.1, 0}).exact == std::nullopt);

    const auto square = [](double v) { return v * v; };
    CHECK_THROWS_WITH_AS(static_cast<void>(floats.sum({Aggregate::Kind::Quantile, 0.5}, square)),
                         doctest::Contains("must rise or fall"), InvalidArgument);
    CHECK(floats.sum({Aggregate::Kind::Min}, square).sum == 1111);  // AGG is known exactly
    CHECK(floats.sum({Aggregate::Kind::Quantile, 0.25}, [](double v) { return -v; }).sum == 111);
}

TEST_CASE("x of 64 bits goes through the sorter, whatever halves of it are equal") {
    class Counting final : public WindowSorter {
      public:
        explicit Counting(std::size_t& keys) : keys_(keys) {}
        void begin(Keys keys, std::size_t window) override {
            keys_ += keys.size();
            sorter_->begin(keys, window);
        }
        void finish() override { sorter_->finish(); }
        [[nodiscard]] std::size_t depth() const override { return 1; }
        [[nodiscard]] std::size_t batch_bytes() const override { return 3 * 500 * 8; }
        [[nodiscard]] Times times() const override { return {}; }
        [[nodiscard]] std::string name() const override { return "counting"; }

      private:
        std::size_t& keys_;
        std::unique_ptr<WindowSorter> sorter_ = cpu_window_sorter(1);
    };
    std::mt19937_64 random(18);
    for (int kind = 0; kind < 5; ++kind) {
        CAPTURE(kind);
        std::vector<std::int64_t> x(5300);
        std::vector<double> y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto bits = random();
            x[i] = static_cast<std::int64_t>(kind == 0   ? bits
                                             : kind == 1 ? bits % 1000
                                             : kind == 2 ? bits << 40U
                                             : kind == 3 ? (bits % 7) << 32U | (bits >> 60U)
                                                         : 5U);
            y[i] = static_cast<double>(bits % 1000) - 300;
        }
        std::size_t sorted = 0;
        const CorrelatedSumOptions options{.eps = 0.01, .window = 500};
        CorrelatedSums<std::int64_t> sums(options, std::make_unique<Counting>(sorted));
        for (std::size_t i = 0; i < x.size(); i += 700) {
            const auto part = std::min<std::size_t>(700, x.size() - i);
            sums.add(std::span(x).subspan(i, part), std::span(y).subspan(i, part));
        }
        // Windows as the exact order makes them.
        std::int64_t total = 0;
        for (const double weight : y) total += static_cast<std::int64_t>(weight);
        CHECK(sums.sum({Aggregate::Kind::Max}).sum == static_cast<double>(total));
        CHECK(sorted == 5000 * (kind == 0 || kind == 3 ? 2U : kind == 4 ? 0U : 1U));
        auto exact = x;
        std::sort(exact.begin(), exact.end());
        const auto median = sums.sum({Aggregate::Kind::Quantile, 0.5});
        REQUIRE(median.exact.has_value());
        const auto at = std::lower_bound(exact.begin(), exact.end(), *median.exact) - exact.begin();
        const auto end = std::upper_bound(exact.begin(), exact.end(), *median.exact) - exact.begin();
        CHECK(at <= 2650 + 53);
        CHECK(end >= 2650 - 53);
        double want = 0;
        for (std::size_t i = 0; i < x.size(); ++i) want += x[i] <= exact[2649] ? y[i] : 0;
        CHECK(median.lower <= want);
        CHECK(median.upper >= want);
    }
}

TEST_CASE("A window of one value makes lossy counting no slower, and changes no bound") {
    Frequencies<double> summary({.eps = 0.001, .window = 1});
    const auto values = stream("heavy tail", 200'000, 4);
    for (const double v : values) summary.add(v);
    CHECK(worst_count(summary, values, 0.002) <= 0.001 * 200'000);
}

TEST_CASE("Correlated sums compare 64-bit x exactly") {
    using Sums = CorrelatedSums<std::int64_t>;
    Sums two;
    two.add(std::vector<std::int64_t>{1'700'000'000'000'000'001, 1'700'000'000'000'000'002}, std::vector{1.0, 10.0});
    CHECK(two.sum({Aggregate::Kind::Min}).sum == 1);
    CHECK(two.sum({Aggregate::Kind::Min}).upper == 1);
    CHECK(two.sum({Aggregate::Kind::Min}, Affine{1, 1}).sum == 11);
    CHECK(two.sum({Aggregate::Kind::Average}).sum == 1);
    __extension__ using Wide = __int128;
    std::mt19937_64 random(16);
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        std::vector<std::int64_t> x(1 + random() % 40);
        std::vector<double> y(x.size());
        const auto around = static_cast<std::int64_t>(random());
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto by = static_cast<std::int64_t>(random() % 400) - 200;
            x[i] = round % 3 == 0
                       ? static_cast<std::int64_t>(random())
                       : static_cast<std::int64_t>(static_cast<std::uint64_t>(around) + static_cast<std::uint64_t>(by));
            y[i] = static_cast<double>(random() % 1000) - 300;
        }
        Sums sums;
        sums.add(x, y);
        auto sorted = x;
        std::sort(sorted.begin(), sorted.end());
        Wide total = 0;
        for (const auto v : x) total += v;
        const auto n = static_cast<std::int64_t>(x.size());
        const auto offset = static_cast<std::int64_t>(random() % 100) - 50;
        const auto check = [&](const Aggregate& aggregate, Wide times_n) {
            double want = 0;
            for (std::size_t i = 0; i < x.size(); ++i)
                want += static_cast<Wide>(x[i]) * n <= times_n + static_cast<Wide>(offset) * n ? y[i] : 0;
            const auto got = sums.sum(aggregate, Affine{1, static_cast<double>(offset)});
            CHECK(got.sum == want);
            CHECK(got.lower == want);
            CHECK(got.upper == want);
        };
        check({Aggregate::Kind::Min}, static_cast<Wide>(sorted.front()) * n);
        check({Aggregate::Kind::Max}, static_cast<Wide>(sorted.back()) * n);
        check({Aggregate::Kind::Average}, total);
        check({Aggregate::Kind::Quantile, 0.5}, static_cast<Wide>(sorted[(sorted.size() + 1) / 2 - 1]) * n);
    }
}

TEST_CASE("Sums of y and the mean of x do not overflow or cancel") {
    CorrelatedSums<double> mean;
    mean.add(std::vector{1e308, 1e308, -1e308, -1e308}, std::vector{1.0, 2.0, 4.0, 8.0});
    CHECK(mean.sum({Aggregate::Kind::Average}).threshold == 0);
    CHECK(mean.sum({Aggregate::Kind::Average}).sum == 12);
    CorrelatedSums<float> large;
    large.add(std::vector{1.0F, 2.0F, 3.0F, 4.0F}, std::vector{1e308, 1e308, 1e308, 1e308});
    const auto quarter = large.sum({Aggregate::Kind::Quantile, 0.25});
    CHECK(quarter.sum == 1e308);
    CHECK(quarter.lower == 1e308);
    CHECK(quarter.upper == 1e308);
    const auto over = large.sum({Aggregate::Kind::Max});
    CHECK(over.sum == std::numeric_limits<double>::infinity());
    CHECK(over.lower == std::numeric_limits<double>::max());
    CorrelatedSums<float> cancels;
    cancels.add(std::vector{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}, std::vector{1e16, 1.0, 1.0, 1.0, 1.0, -1e16});
    for (auto* sums : {&cancels}) {
        const auto got = CorrelatedSums<float>::load(sums->save()).sum({Aggregate::Kind::Max});
        CHECK(got.sum == 4);
        CHECK(got.lower == 4);
        CHECK(got.upper == 4);
    }
    CorrelatedSums<float> minus;
    minus.add(std::vector{1.0F, 2.0F}, std::vector{-5.0, 3.0});
    CHECK(minus.sum({Aggregate::Kind::Min}).sum == -5);
    CHECK(CorrelatedSums<float>::load(minus.save()).sum({Aggregate::Kind::Max}).sum == -2);
}

TEST_CASE("Bounds of correlated sums hold without any slack, whatever the weights") {
    std::mt19937_64 random(17);
    for (int round = 0; round < 30; ++round) {
        CAPTURE(round);
        const int spread = round % 3 == 0 ? 2000 : round % 3 == 1 ? 120 : 4;
        std::vector<float> x(3000);
        std::vector<double> y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = static_cast<float>(random() % 700);
            y[i] = std::ldexp(static_cast<double>(random() >> 11U) - 0x1p52,
                              static_cast<int>(random() % static_cast<unsigned>(spread)) - spread / 2 - 53);
        }
        CorrelatedSums<float> sums({.eps = 0.05, .window = 200}), other({.eps = 0.02, .window = 300});
        sums.add(std::span(x).first(2000), std::span(y).first(2000));
        other.add(std::span(x).subspan(2000), std::span(y).subspan(2000));
        sums.merge(CorrelatedSums<float>::load(other.save()));
        auto sorted = x;
        std::sort(sorted.begin(), sorted.end());
        for (const double phi : {0.0, 0.2, 0.5, 0.9, 1.0}) {
            const auto rank = std::max<std::size_t>(static_cast<std::size_t>(std::ceil(phi * 3000)), 1);
            detail::stream::ExactSum exact;
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (x[i] <= sorted[rank - 1]) exact.add(y[i]);
            }
            const auto got = sums.sum({Aggregate::Kind::Quantile, phi});
            CHECK(got.lower <= exact.below());
            CHECK(got.upper >= exact.above());
        }
    }
}
