// Correlated sums: compares bounds with exact sums, for x of every type and size.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"
#include "stream/exact_sum.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

TEST_CASE_TEMPLATE("Correlated sums: bounds hold, and the sum is that of a threshold of nearly that rank", T, Half,
                   float, double, std::int32_t, std::int64_t) {
    const auto make = [](double v) {
        if constexpr (std::is_same_v<T, Half>) {
            return Half::from_float(static_cast<float>(v));
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
                    v = std::fmod(v, 1999);  // a half represents it exactly
                    x.push_back(make(v));
                    sum_x += v;
                    // Some weights are large: a few pairs make up most of the sum.
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
    // A plan for more values than possible.
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
    CorrelatedSums<float> named({.g = [](double v) { return v * v; }, .formula = "y*y"});
    named.add(std::vector{1.0F, 2.0F}, std::vector{3.0, 4.0});
    CHECK_THROWS_AS(named.merge(squares), InvalidArgument);
    auto again = CorrelatedSums<float>::load(named.save());
    CHECK(again.formula() == "y*y");
    CHECK(squares.formula().empty());
    again.merge(named);
    CHECK(again.sum({Aggregate::Kind::Max}).sum == 50);
    CHECK(CorrelatedSums<float>::load(again.save()).save() == again.save());
    CHECK_THROWS_AS(static_cast<void>(squares.sum({Aggregate::Kind::Quantile, 2})), InvalidArgument);
}

TEST_CASE("A threshold is exact if x can have that value, and f must be monotonic") {
    CorrelatedSums<std::int64_t> sums;
    const std::int64_t large = 1'700'000'000'000'000'001;
    sums.add(std::vector<std::int64_t>{large, large + 2, large + 2}, std::vector{1.0, 10.0, 100.0});
    CHECK(sums.sum({Aggregate::Kind::Min}).exact == large);
    CHECK(sums.sum({Aggregate::Kind::Min}, Affine{1, 1}).exact == large + 1);
    CHECK(sums.sum({Aggregate::Kind::Min}, Affine{1, 0.5}).exact == std::nullopt);
    CHECK(sums.sum({Aggregate::Kind::Min}, Affine{1e9, 0}).exact == std::nullopt);  // no 64-bit integer
    CHECK(sums.sum({Aggregate::Kind::Average}).exact == std::nullopt);              // a third remains
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

TEST_CASE("x of 64 bits goes through the sorter, even if some of its halves are equal") {
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
        // Windows in the exact order.
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
