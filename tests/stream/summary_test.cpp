// The summaries themselves: compares bounds of ranks and counts with exact ones, through merging and pruning.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <latch>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "sanitized.hpp"
#include "stream/exact_sum.hpp"
#include "stream/exponential_histogram.hpp"
#include "stream/frequency_summary.hpp"
#include "stream/quantile_parts.hpp"
#include "stream/quantile_summary.hpp"

using namespace quadmill::detail::stream;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<std::uint32_t> sorted_values(std::size_t n, std::uint32_t distinct, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> values(n);
    for (auto& v : values) v = static_cast<std::uint32_t>(random() % distinct);
    std::sort(values.begin(), values.end());
    return values;
}

Window window(const std::vector<std::uint32_t>& values) {
    return window_of(values);
}

// Checks that every entry's bounds hold, every rank has an answer within max_error, and counts below a key are bounded.
void check(const QuantileSummary& summary, const std::vector<std::uint32_t>& all) {
    REQUIRE(summary.n() == all.size());
    for (std::size_t i = 0; i < summary.size(); ++i) {
        const auto entry = summary.entry(i);
        const auto below = std::lower_bound(all.begin(), all.end(), entry.key) - all.begin();
        const auto at_most = std::upper_bound(all.begin(), all.end(), entry.key) - all.begin();
        REQUIRE(below < at_most);  // the value occurs
        REQUIRE(entry.rank_min <= static_cast<std::uint64_t>(at_most));
        REQUIRE(entry.rank_max > static_cast<std::uint64_t>(below));
    }
    const QuantileParts parts({&summary});
    for (std::uint64_t rank = 1; rank <= all.size(); rank += 1 + all.size() / 997) {
        const auto entry = parts.at_rank(rank);
        REQUIRE(entry.rank_min <= rank + summary.max_error());
        REQUIRE(entry.rank_max + summary.max_error() >= rank);
        REQUIRE(std::max(rank, entry.rank_max) - std::min(rank, entry.rank_min) <=
                summary.max_error() + (entry.rank_max - entry.rank_min));
        REQUIRE((rank <= entry.rank_min || rank - entry.rank_min <= summary.max_error()));
        REQUIRE((rank >= entry.rank_max || entry.rank_max - rank <= summary.max_error()));
    }
    for (std::uint32_t key = 0; key < all.back() + 2; key += 1 + all.back() / 101) {
        const auto exact = static_cast<std::uint64_t>(std::upper_bound(all.begin(), all.end(), key) - all.begin());
        const auto bounds = parts.count_at_most(key);
        REQUIRE(bounds.lower <= exact);
        REQUIRE(bounds.upper >= exact);
    }
}

}  // namespace

TEST_CASE("A quantile summary of a window keeps its error with as few entries as necessary") {
    for (const std::size_t n : {1U, 2U, 3U, 10U, 1000U, 4097U}) {
        for (const double error : {0.0, 0.4, 0.5, 1.0, 7.0, 100.0, 1e9}) {
            CAPTURE(n);
            CAPTURE(error);
            const auto values = sorted_values(n, 500, n);
            const auto summary = QuantileSummary::of(window(values), error);
            check(summary, values);
            CHECK(static_cast<double>(summary.max_error()) <= error);
            const auto step = std::max(1.0, std::floor(2 * error));
            CHECK(static_cast<double>(summary.size()) <= (static_cast<double>(n) - 1) / step + 2);
        }
    }
}

TEST_CASE("Merging adds the errors, pruning adds the permitted error") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const std::uint32_t distinct = seed % 3 == 0 ? 3 : seed % 3 == 1 ? 100 : 1'000'000;
        QuantileSummary sum;
        std::vector<std::uint32_t> all;
        double allowed = 0;
        for (int part = 0; part < 6; ++part) {
            const auto values = sorted_values(1 + (seed * 977 + 1231U * static_cast<unsigned>(part)) % 3000, distinct,
                                              10 * seed + static_cast<unsigned>(part));
            allowed += 0.01 * static_cast<double>(values.size());
            const auto one = QuantileSummary::of(window(values), 0.01 * static_cast<double>(values.size()));
            sum = part % 2 == 0 ? QuantileSummary::merged(sum, one, {}) : QuantileSummary::merged(one, sum, {});
            all.insert(all.end(), values.begin(), values.end());
            std::sort(all.begin(), all.end());
            check(sum, all);
            CHECK(static_cast<double>(sum.max_error()) <= allowed);
            allowed += 0.005 * static_cast<double>(all.size());
            sum.prune(allowed);
            check(sum, all);
            CHECK(static_cast<double>(sum.max_error()) <= allowed);
            CHECK(sum.size() <= 202);  // B + 1 for the permitted error, and a little more
        }
    }
}

TEST_CASE("Many summaries merged in one step are the same as by twos") {
    std::mt19937_64 random(44);
    const auto same = [](const QuantileSummary& a, const QuantileSummary& b) {
        REQUIRE(a.n() == b.n());
        REQUIRE(a.size() == b.size());
        REQUIRE(a.is_exact() == b.is_exact());
        CHECK(a.max_error() == b.max_error());
        for (std::size_t i = 0; i < a.size(); ++i) {
            REQUIRE(a.key(i) == b.key(i));
            REQUIRE(a.entry(i).rank_min == b.entry(i).rank_min);
            REQUIRE(a.entry(i).rank_max == b.entry(i).rank_max);
        }
    };
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        std::vector<QuantileSummary> summaries(1 + random() % 20);
        std::vector<const QuantileSummary*> list;
        std::vector<std::uint32_t> all;
        QuantileSummary sum;
        const std::uint64_t max_part = random() % 4;
        for (auto& summary : summaries) {
            const std::uint32_t distinct = round % 3 == 0 ? 7 : round % 3 == 1 ? 300 : 1'000'000;
            const auto values = sorted_values(1 + random() % 400, distinct, random());
            all.insert(all.end(), values.begin(), values.end());
            const auto error = 0.01 * static_cast<double>(random() % (max_part + 1) * values.size());
            summary = QuantileSummary::of(window(values), error);
            if (max_part > 0 && random() % 3 == 0) {
                summary = QuantileSummary::merged(summary, QuantileSummary::of(window(values), error), {});
                summary.prune(0.04 * static_cast<double>(summary.n()));
                all.insert(all.end(), values.begin(), values.end());
            }
            if (random() % 2 == 0) summary.pack();
            list.push_back(&summary);
            sum = QuantileSummary::merged(sum, summary, {});
        }
        std::sort(all.begin(), all.end());
        same(QuantileSummary::merged(list, 0), sum);
        for (const double eps : {0.001, 0.06, 0.1, 0.5}) {
            CAPTURE(eps);
            const auto allowed = eps * static_cast<double>(all.size());
            const auto before = sum.max_error();
            const auto pruned = QuantileSummary::merged(list, allowed);
            check(pruned, all);
            CHECK(static_cast<double>(pruned.max_error()) <= std::max(allowed, static_cast<double>(before)));
            CHECK(pruned.size() <= sum.size());
            if (allowed > 2 * static_cast<double>(before)) CHECK(pruned.size() <= 13 / (2 * eps) + 3);
        }
    }
    // Weights may make steps that take more than 32 bits.
    constexpr auto n = std::uint64_t{1} << 40U;
    const auto steps_of = [&](std::uint64_t seed) {
        return QuantileSummary::of_keys(
            n, [&](std::uint64_t i) { return i / 3 + seed; }, 0x1p34, alone, quadmill::Tail::Off);
    };
    const auto a = steps_of(1), b = steps_of(5), c = steps_of(9);
    same(QuantileSummary::merged(std::array{&a, &b, &c}, 0),
         QuantileSummary::merged(QuantileSummary::merged(a, b, {}), c, {}));
}

TEST_CASE("Histograms that wait for each other have all values, and settle to few buckets") {
    std::mt19937_64 random(45);
    using Histogram = ExponentialHistogram<QuantileSummary>;
    for (const auto tail : {quadmill::Tail::Off, quadmill::Tail::Low, quadmill::Tail::High, quadmill::Tail::Both}) {
        for (const double eps : {0.01, 0.05}) {
            auto plan = ErrorPlan::of_stream(eps, 1);
            plan.tail = tail;
            Histogram sum(plan);
            std::vector<std::uint32_t> all;
            for (int part = 0; part < 300; ++part) {
                const auto values = sorted_values(1 + random() % 2000, 1'000'000, random());
                all.insert(all.end(), values.begin(), values.end());
                Histogram one(plan);
                one.add(QuantileSummary::of(window(values), plan.max_error(1, values.size()), alone, tail));
                sum.merge(one);
                CHECK(sum.n() == all.size());
                if (part % 97 == 0) sum.settle();
            }
            const auto waited = sum.all();
            sum.settle();
            CHECK(sum.parts().size() <= 9);
            std::sort(all.begin(), all.end());
            const auto settled = sum.all();
            check(waited, all);
            check(settled, all);
            for (std::size_t i = 1; i < settled.size(); ++i) {
                const auto before = settled.entry(i - 1).rank_min, next = settled.entry(i).rank_max;
                const auto k = static_cast<double>((next - before) / 2);
                const auto low = static_cast<double>(before) + k, high = static_cast<double>(all.size() + 1 - next) + k;
                const auto distance = tail == quadmill::Tail::Off    ? static_cast<double>(all.size())
                                      : tail == quadmill::Tail::Low  ? low
                                      : tail == quadmill::Tail::High ? high
                                                                     : std::min(low, high);
                REQUIRE(k <= eps * distance * (1 + 1e-9));
            }
        }
    }
}

TEST_CASE("Several summaries queried together answer like their sum") {
    std::mt19937_64 random(11);
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        std::vector<QuantileSummary> summaries(1 + random() % 6);
        QuantileSummary sum;
        for (auto& summary : summaries) {
            const std::uint32_t distinct = round % 4 == 0 ? 1 : round % 4 == 1 ? 7 : round % 4 == 2 ? 300 : 1'000'000;
            const auto values = sorted_values(random() % 400, distinct, random());
            summary = QuantileSummary::of(window(values), 0.01 * static_cast<double>(random() % 3 * values.size()));
            if (random() % 2 == 0) {
                const auto more = sorted_values(1 + random() % 400, distinct, random());
                summary = QuantileSummary::merged(summary, QuantileSummary::of(window(more), 3), {});
                summary.prune(0.02 * static_cast<double>(summary.n()));
            }
            sum = QuantileSummary::merged(sum, summary, {});
        }
        if (sum.n() == 0) continue;
        std::vector<const QuantileSummary*> list;
        for (const auto& summary : summaries) list.push_back(&summary);
        const QuantileParts parts(list), whole({&sum});
        REQUIRE(parts.n() == sum.n());
        REQUIRE(parts.size() == sum.size());
        REQUIRE(parts.min() == sum.key(0));
        REQUIRE(parts.greatest() == sum.key(sum.size() - 1));
        for (std::uint64_t rank = 1; rank <= sum.n(); ++rank) {
            const auto one = parts.at_rank(rank), other = whole.at_rank(rank);
            REQUIRE(one.key == other.key);
            REQUIRE(one.rank_min == other.rank_min);
            REQUIRE(one.rank_max == other.rank_max);
        }
        for (std::size_t i = 0; i < sum.size(); ++i) {
            for (const auto key : {saturating_sub(sum.key(i), 1), sum.key(i), sum.key(i) + 1})
                REQUIRE(parts.count_at_most(key) == whole.count_at_most(key));
        }
    }
}

TEST_CASE("Sharing work among threads changes a summary only in the entries where pieces begin") {
    // In reverse order, on which no result may depend.
    const Share backwards = [](std::size_t count, const Work& work) {
        while (count > 0) work(--count);
    };
    const auto bytes = [](const QuantileSummary& summary) {
        Writer to({Kind::Quantiles, quadmill::KeyType::U32});
        summary.write(to);
        return to.take();
    };
    for (const double error : {0.0, 1.0, 3.0}) {
        for (const std::uint32_t distinct : {5U, 4'000'000U}) {
            CAPTURE(error);
            CAPTURE(distinct);
            const auto values = sorted_values(300'001, distinct, 1), others = sorted_values(170'000, distinct, 2);
            const auto one = QuantileSummary::of(window(values), error, backwards);
            const auto other = QuantileSummary::of(window(others), 2 * error, backwards);
            CHECK(bytes(one) == bytes(QuantileSummary::of(window(values), error)));
            auto sum = QuantileSummary::merged(one, other, {}, backwards);
            CHECK(bytes(sum) == bytes(QuantileSummary::merged(one, other, {})));
            std::vector<std::uint32_t> all(values);
            all.insert(all.end(), others.begin(), others.end());
            std::sort(all.begin(), all.end());
            auto alone_pruned = sum;
            sum.prune(20, backwards);
            alone_pruned.prune(20);
            CHECK(bytes(sum) == bytes(alone_pruned));
            CHECK(sum.max_error() <= 20);
            CHECK(sum.size() <=
                  all.size() / (40 - 6 * static_cast<std::size_t>(error)) + 2 + all.size() / shared_piece);
            check(sum, all);
        }
    }
}

TEST_CASE(
    "A frequency summary of windows counts exactly what it keeps from the start, and misses no more than it says") {
    for (const double eps : {0.3, 0.05, 0.01}) {
        for (const std::size_t size : {1U, 7U, 100U, 1000U}) {
            CAPTURE(eps);
            CAPTURE(size);
            FrequencySummary sum;
            std::vector<std::uint32_t> all;
            std::mt19937 random(7);
            quadmill::StreamTimes times;
            for (int part = 0; part < 30; ++part) {
                std::vector<std::uint32_t> values(size);
                for (auto& v : values)
                    v = static_cast<std::uint32_t>(std::min<std::uint64_t>(random() % 50, random() % 50));
                std::sort(values.begin(), values.end());
                all.insert(all.end(), values.begin(), values.end());
                sum = sum.with(window(values), eps * static_cast<double>(all.size()), {}, times);
                REQUIRE(sum.n() == all.size());
                REQUIRE(static_cast<double>(sum.max_error()) <= eps * static_cast<double>(all.size()));
                for (std::uint32_t v = 0; v < 52; ++v) {
                    const auto exact = static_cast<std::uint64_t>(std::count(all.begin(), all.end(), v));
                    const auto bounds = sum.count(v);
                    REQUIRE(bounds.lower <= exact);
                    REQUIRE(bounds.upper >= exact);
                    REQUIRE(bounds.upper - bounds.lower <= sum.max_error());
                }
            }
        }
    }
}

TEST_CASE("All threads count a long window in parts, with the same result as one") {
    const Share backwards = [](std::size_t count, const Work& work) {
        for (auto i = count; i-- > 0;) work(i);
    };
    quadmill::StreamTimes times;
    for (const std::uint32_t distinct : {1U, 3U, 1000U, 4'000'000'000U}) {
        for (const double eps : {1e-6, 1e-5, 0.01}) {
            CAPTURE(distinct);
            CAPTURE(eps);
            FrequencySummary whole, parted;
            std::vector<std::uint32_t> all;
            for (std::uint64_t seed = 0; seed < (quadmill::test::sanitized ? 1U : 3U); ++seed) {
                const auto values = sorted_values(600'000 + seed, distinct, seed);
                all.insert(all.end(), values.begin(), values.end());
                const double error = eps * static_cast<double>(all.size());
                parted = parted.with(window(values), error, {}, times, backwards);
                whole = whole.with(window(values), error, {}, times);
                Writer a({Kind::Frequencies, quadmill::KeyType::U32}), b({Kind::Frequencies, quadmill::KeyType::U32});
                parted.write(a);
                whole.write(b);
                REQUIRE(a.take() == b.take());
                REQUIRE(static_cast<double>(parted.max_error()) <= error);
            }
            std::sort(all.begin(), all.end());
            for (auto run = all.begin(); run != all.end();) {
                const auto end = std::upper_bound(run, all.end(), *run);
                const auto bounds = parted.count(*run);
                const auto exact = static_cast<std::uint64_t>(end - run);
                REQUIRE(bounds.lower <= exact);
                REQUIRE(bounds.upper >= exact);
                REQUIRE(bounds.upper - bounds.lower <= parted.max_error());
                run = end;
            }
        }
    }
}

TEST_CASE("The plan of errors never uses up eps; for known n it is Greenwald and Khanna's") {
    const ErrorPlan unknown{.eps = 0.1};
    double before = -1;
    for (std::size_t id = 1; id < ErrorPlan::max_ids; ++id) {
        CHECK(unknown.used(id) > before);
        CHECK(unknown.used(id) < 1);
        before = unknown.used(id);
    }
    const ErrorPlan known{.eps = 0.1, .levels = ErrorPlan::levels_for(1000)};
    CHECK(known.levels == 11);
    for (std::size_t id = 1; id <= 11; ++id) {
        CHECK(known.max_error(id, 1000) == doctest::Approx(1000 * (0.05 + 0.1 * (static_cast<double>(id) - 1) / 22)));
    }
    CHECK(known.used(40) < 1);
}

TEST_CASE("An exponential histogram of many windows keeps eps") {
    std::mt19937_64 random(3);
    for (const std::uint64_t levels : {1U, 8U}) {
        CAPTURE(levels);
        const ErrorPlan plan{.eps = 0.02, .levels = levels};
        ExponentialHistogram<QuantileSummary> histogram(plan);
        std::vector<std::uint32_t> all;
        for (int part = 0; part < 200; ++part) {
            const auto values = sorted_values(1 + random() % 900, 1'000'000, random());
            all.insert(all.end(), values.begin(), values.end());
            histogram.add(QuantileSummary::of(window(values), plan.max_error(1, values.size())));
        }
        std::sort(all.begin(), all.end());
        const auto sum = histogram.all();
        check(sum, all);
        CHECK(static_cast<double>(sum.max_error()) <= plan.eps * static_cast<double>(all.size()));
        CHECK(sum.size() < all.size() / 4);
        MESSAGE("levels " << levels << ": error " << sum.max_error() << " of "
                          << plan.eps * static_cast<double>(all.size()) << ", " << histogram.bytes() << " bytes");
    }
}

TEST_CASE("Windows that threads add together give the same buckets as one by one") {
    std::mt19937_64 random(9);
    const ErrorPlan plan{.eps = 0.05};
    const Share threads = [](std::size_t count, const Work& work) {  // in another order
        for (std::size_t i = count; i-- > 0;) work(i);
    };
    ExponentialHistogram<QuantileSummary> together(plan), one_by_one(plan);
    std::size_t added = 0;
    for (const std::size_t count : {1U, 3U, 12U, 16U, 31U, 32U, 1'500U, 7U, 100U, 1'100U, 2U}) {
        CAPTURE(added);
        std::vector<std::vector<std::uint32_t>> windows;
        for (std::size_t i = 0; i < count; ++i) windows.push_back(sorted_values(40, 1'000, random()));
        const auto sample = [&](std::size_t i) {
            return QuantileSummary::of(window(windows[i]), plan.max_error(1, windows[i].size()));
        };
        const auto ms = together.add_windows(
            count, [&](QuantileSummary& made, std::size_t i, const Share& /*share*/) { made = sample(i); }, threads);
        CHECK(ms > 0);
        for (std::size_t i = 0; i < count; ++i) one_by_one.add(sample(i));
        added += count;
        CHECK(together.n() == 40 * added);
        for (std::size_t id = 1; id <= ErrorPlan::max_ids; ++id) {
            const auto *a = together.bucket(id), *b = one_by_one.bucket(id);
            REQUIRE((a == nullptr) == (b == nullptr));
            if (!a) continue;
            REQUIRE(a->size() == b->size());
            for (std::size_t i = 0; i < a->size(); ++i) {
                const auto x = a->entry(i), y = b->entry(i);
                CHECK((x.key == y.key && x.rank_min == y.rank_min && x.rank_max == y.rank_max));
            }
        }
    }
}

TEST_CASE("Exact sums round once, for any values in any order") {
    std::mt19937_64 random(8);
    const auto any = [&] {
        return std::ldexp(static_cast<double>(random() >> 11U) * (random() % 2 == 0 ? 1 : -1),
                          static_cast<int>(random() % 2040) - 1100);
    };
    for (int round = 0; round < 200; ++round) {
        ExactSum sum;
        std::vector<double> values(50);
        for (auto& v : values) {
            v = any();
            if (!std::isfinite(v)) v = 1;
            sum.add(v);
        }
        const double left = any();
        sum.add(std::isfinite(left) ? left : 3);
        std::shuffle(values.begin(), values.end(), random);
        for (const double v : values) sum.add(-v);
        CHECK(sum.nearest() == (std::isfinite(left) ? left : 3));
        CHECK(sum.below() == sum.nearest());
        CHECK(sum.above() == sum.nearest());
        CHECK(sum.sign() == (sum.nearest() > 0) - (sum.nearest() < 0));
    }
    for (int round = 0; round < 2000; ++round) {  // the processor, too, rounds a quotient of whole numbers once
        const auto a = static_cast<double>(random() >> (11 + random() % 40)),
                   b = static_cast<double>(1 + random() % 1000);
        CHECK(ExactSum(a).nearest(static_cast<std::uint64_t>(b)) == a / b);
        CHECK(ExactSum(-a).nearest(static_cast<std::uint64_t>(b)) == -a / b);
        ExactSum product;
        product.add(a, 1 / b);
        CHECK(product.nearest() == a * (1 / b));
        CHECK(product.below() <= product.nearest());
        CHECK(product.above() >= product.nearest());
        CHECK((product.above() == product.below()) == (std::fma(a, 1 / b, -(a * (1 / b))) == 0));
    }
    ExactSum large;
    for (int i = 0; i < 8; ++i) large.add(1e308);
    CHECK(large.nearest() == std::numeric_limits<double>::infinity());
    CHECK(large.below() == std::numeric_limits<double>::max());
    CHECK(large.nearest(8) == 1e308);
    const double min = std::numeric_limits<double>::denorm_min();
    ExactSum tiny(min);
    CHECK(tiny.nearest(2) == 0);
    tiny.add(2 * min);
    CHECK(tiny.nearest(2) == 2 * min);  // between 1 and 2, the even one
    tiny.add(tiny, -1);
    CHECK(tiny.sign() == 0);
    // The product of the two smallest doubles is a single bit, with 104 zeros after it when the bits of the doubles are
    // multiplied.
    ExactSum square;
    square.add(min, min);
    CHECK(square.sign() == 1);
    square.add(ExactSum(-min), min);
    CHECK(square.sign() == 0);
    CHECK(ExactSum().nearest() == 0);
    Writer to({Kind::Quantiles, quadmill::KeyType::F64});
    large.write(to);
    const auto bytes = to.take();
    Reader from("test", bytes);
    CHECK(ExactSum::read(from).nearest(8) == 1e308);
}

TEST_CASE("A packed summary gives the same answers") {
    for (const double error : {0.0, 2.0}) {
        for (const Key above : {Key{0}, Key{1} << 40U}) {
            std::vector<std::uint64_t> a, b;
            for (const auto v : sorted_values(3000, 1'000'000, 3)) a.push_back(v + above);
            for (const auto v : sorted_values(2000, 1'000'000, 4)) b.push_back(v * (above + 1));
            auto one = QuantileSummary::of(window_of(a), error);
            const auto other = QuantileSummary::of(window_of(b), 2 * error);
            auto sum = QuantileSummary::merged(one, other, {}), packed = sum;
            packed.pack();
            CHECK((above > 0 || packed.bytes() <= sum.bytes() / 2));
            one.pack();
            auto again = QuantileSummary::merged(other, one, {});
            const auto check_same = [](const QuantileSummary& x, const QuantileSummary& y) {
                REQUIRE(x.size() == y.size());
                CHECK(x.max_error() == y.max_error());
                for (std::size_t i = 0; i < x.size(); ++i) {
                    const auto p = x.entry(i), q = y.entry(i);
                    REQUIRE((p.key == q.key && p.rank_min == q.rank_min && p.rank_max == q.rank_max));
                }
            };
            check_same(sum, packed);
            CHECK(again.n() == sum.n());
            sum.prune(20);
            packed.prune(20);
            packed.pack();
            check_same(sum, packed);
        }
    }
}

TEST_CASE("A thread uses a few freed blocks again") {
    std::thread([] {  // one that has freed nothing yet
        using detail::cpu::kept_bytes;
        using List = std::vector<std::uint64_t, detail::cpu::Uncleared<std::uint64_t>>;
        constexpr std::size_t size = 20'000;
        const auto freed = reinterpret_cast<std::uintptr_t>(List(size).data());
        const List again(size - 1);  // the same rounded size
        CHECK(reinterpret_cast<std::uintptr_t>(again.data()) == freed);
        const auto kept_of = [](std::size_t count, std::size_t length) {
            std::size_t kept = 0;
            std::thread([&] {
                const auto before = kept_bytes();  // by other threads
                { const std::vector<List> lists(count, List(length)); }
                kept = kept_bytes() - before;
            }).join();
            return kept;
        };
        CHECK(kept_of(40, 300'000) <= std::size_t{8} << 20U);
        CHECK(kept_of(40, 300'000) > 0);
        CHECK(kept_of(40, 10'000) > 0);
        CHECK(kept_of(3, 1'000'000) == 0);  // too long
        CHECK(kept_of(3, 1'000) == 0);      // too short
        { const std::vector<List> lists(40, List(300'000)); }
        { const List other(150'000); }  // takes the room of an older block
        const auto kept = kept_bytes();
        const List taken(150'000);
        CHECK(kept_bytes() < kept);
        const auto before = kept_bytes();
        std::vector<std::thread> threads;
        std::latch have(8), done(1);
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&] {
                { const std::vector<List> lists(40, List(300'000)); }
                have.count_down();
                done.wait();
            });
        }
        have.wait();
        CHECK(kept_bytes() > std::size_t{16} << 20U);
        CHECK(kept_bytes() <= std::size_t{32} << 20U);
        done.count_down();
        for (auto& thread : threads) thread.join();
        CHECK(kept_bytes() == before);
    })
        .join();
}
