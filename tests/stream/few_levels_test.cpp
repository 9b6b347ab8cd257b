// Sliding windows that keep blocks of few levels: compares every answer with the exact window, for all types.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "stream/orders.hpp"
#include "stream/sliding_state.hpp"

using namespace quadmill;                  // NOLINT(google-build-using-namespace)
using namespace quadmill::test;            // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::stream;  // NOLINT(google-build-using-namespace)

namespace {

template <class T>
Key key_of(T value) {
    return Window(std::span<const T>(&value, 1), rule_of<T>).key(0);
}

// Checks the values, their ranks and the bounds of both against the exact keys of a window.
template <class T>
void check_quantiles(const SlidingQuantiles<T>& sliding, std::vector<Key> window, std::size_t ranks) {
    std::ranges::sort(window);
    const auto n = static_cast<double>(window.size());
    std::vector<double> phis;
    for (std::size_t i = 0; i <= ranks; ++i) phis.push_back(static_cast<double>(i) / static_cast<double>(ranks));
    bool right = true;
    for (const auto& q : sliding.quantiles(phis)) {
        const auto [from, to] = std::equal_range(window.begin(), window.end(), key_of(q.value));
        const auto first = static_cast<double>(from - window.begin() + 1),
                   last = static_cast<double>(to - window.begin());
        const double rank = static_cast<double>(q.rank), max = sliding.options().eps * n;
        right = right && first <= last && rank == std::max(1.0, std::ceil(q.phi * n - 1e-6));
        right = right && first - max <= rank && rank <= last + max;
        right = right && static_cast<double>(q.rank_lower) <= last && static_cast<double>(q.rank_upper) >= first;
    }
    CHECK(right);
}

template <class T>
void check_counts(const SlidingFrequencies<T>& sliding, const std::vector<Key>& window) {
    std::map<Key, std::uint64_t> counts;
    for (const auto key : window) ++counts[key];
    const double eps = sliding.options().eps, n = static_cast<double>(window.size());
    for (const double support : {eps, std::min(3 * eps, 1.0)}) {
        bool right = true;
        std::map<Key, bool> found;
        for (const auto& [value, count] : sliding.frequent(support)) {
            const auto exact = counts[key_of(value)];
            found[key_of(value)] = true;
            right = right && count.lower <= exact && exact <= count.upper;
            right = right && static_cast<double>(count.upper - count.lower) <= eps * n;
            right = right && static_cast<double>(exact) >= (support - eps) * n;
        }
        for (const auto& [key, exact] : counts)
            right = right && (static_cast<double>(exact) < support * n || found.contains(key));
        CHECK(right);
    }
}

// The stream goes on in parts of any length. From time to time the summaries are checked, or saved and loaded.
template <class T>
void check_stream(const std::vector<T>& values, const SlidingOptions& options, unsigned seed, std::size_t ranks = 40) {
    REQUIRE(SlidingPlan(options).few);
    SlidingQuantiles<T> quantiles(options);
    SlidingFrequencies<T> frequencies(options);
    std::deque<Key> last;
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < values.size();) {
        const auto longest = random() % 4 == 0 ? options.window : options.window / 50;
        const auto part = std::min<std::size_t>(1 + random() % longest, values.size() - i);
        const auto some = std::span(values).subspan(i, part);
        quantiles.add(some);
        frequencies.add(some);
        for (const auto value : some) {
            if (number(value) == number(value)) last.push_back(key_of(value));
        }
        while (last.size() > options.window) last.pop_front();
        i += part;
        if (last.empty()) continue;
        CAPTURE(i);
        if (random() % 3 == 0) {
            check_quantiles(quantiles, {last.begin(), last.end()}, random() % 2 == 0 ? 4 : ranks);
            check_counts(frequencies, {last.begin(), last.end()});
        }
        if (random() % 8 == 0) {
            const auto saved = quantiles.save(), counts = frequencies.save();
            quantiles = SlidingQuantiles<T>::load(saved);
            frequencies = SlidingFrequencies<T>::load(counts);
            CHECK(quantiles.save() == saved);
            CHECK(frequencies.save() == counts);
        }
    }
    check_quantiles(quantiles, {last.begin(), last.end()}, ranks);
    check_counts(frequencies, {last.begin(), last.end()});
}

std::vector<double> in_order(const std::string& order, std::size_t n) {
    if (order == "all equal") return std::vector<double>(n, -1.5);
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(std::min(i, n - i));
    return order == "organ pipe" ? values : stream(order, n, 51);
}

}  // namespace

TEST_CASE("Few levels keep eps in every order, at any moment") {
    auto all = orders;
    all.insert(all.end(), {"sorted", "reversed", "organ pipe", "all equal"});
    for (const auto& order : all) {
        for (const auto& options :
             {SlidingOptions{.eps = 0.5, .window = 300}, SlidingOptions{.eps = 0.3, .window = 1'000},
              SlidingOptions{.eps = 0.1, .window = 2'500}, SlidingOptions{.eps = 0.1, .window = 9'999},
              SlidingOptions{.eps = 0.03, .window = 14'000}}) {
            CAPTURE(order);
            CAPTURE(options.eps);
            CAPTURE(options.window);
            const auto values = in_order(order, 3 * static_cast<std::size_t>(options.window) + 7);
            check_stream(values, options, static_cast<unsigned>(options.window));
        }
    }
}

TEST_CASE_TEMPLATE("Few levels with values of every type, NaNs and -0", T, Half, float, double, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
    using Limits = std::numeric_limits<T>;
    constexpr float inf = std::numeric_limits<float>::infinity();
    const auto made = stream("random", 20'000, 52);
    std::vector<T> values;
    for (std::size_t i = 0; i < made.size(); ++i) {
        const auto small = static_cast<int>(made[i]) % 2'000;
        if constexpr (std::is_integral_v<T>) {
            values.push_back(static_cast<T>(i % 50 == 0 ? Limits::max() : i % 50 == 1 ? Limits::lowest() : T(small)));
        } else {
            const float v = i % 50 == 0   ? inf
                            : i % 50 == 1 ? -inf
                            : i % 9 == 0  ? std::nanf("")
                            : i % 7 == 0  ? -0.0F
                            : i % 7 == 1  ? 0.0F
                                          : static_cast<float>(small - 1'000);
            if constexpr (std::is_same_v<T, Half>) {
                values.push_back(Half::from_float(v));
            } else {
                values.push_back(v);
            }
        }
    }
    check_stream(values, {.eps = 0.05, .window = 6'000}, 7);
}

TEST_CASE("Few levels with a finer eps, and two lower levels") {
    const auto made = stream("random", 1'600'000, 53);
    const std::vector<float> values(made.begin(), made.end());
    const SlidingOptions options{.eps = 1e-3, .window = 700'000};
    REQUIRE(SlidingPlan(options).few);
    SlidingQuantiles<float> quantiles(options, cpu_window_sorter());
    for (const std::size_t end : {5'000U, 690'001U, 1'111'111U, 1'600'000U}) {
        quantiles.add(std::span(values).subspan(static_cast<std::size_t>(quantiles.n()), end - quantiles.n()));
        std::vector<Key> window;
        for (auto i = end - std::min<std::size_t>(end, 700'000); i < end; ++i) window.push_back(key_of(values[i]));
        check_quantiles(quantiles, std::move(window), 200);
    }
    if (sanitized) return;
    const SlidingOptions fine{.eps = 9e-5, .window = 13'000'000};
    const SlidingPlan plan(fine);
    REQUIRE(plan.few);
    REQUIRE(plan.top == 2 * plan.stride);
    std::vector<std::uint32_t> many(20'000'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::uint32_t>(i * 2'654'435'761U) / 3;
    SlidingQuantiles<std::uint32_t> wide(fine, cpu_window_sorter());
    wide.add(many);
    const auto window = std::span(many).last(fine.window);
    for (const auto& q : wide.quantiles(std::array{0.0, 0.01, 0.3, 0.5, 0.95, 1.0})) {
        const auto below = static_cast<double>(std::ranges::count_if(window, [&](auto v) { return v < q.value; }));
        const auto max = fine.eps * static_cast<double>(fine.window);
        CHECK(std::abs(below + 1 - static_cast<double>(q.rank)) <= max);
        CHECK(static_cast<double>(q.rank_lower) <= below + 1);
        CHECK(static_cast<double>(q.rank_upper) >= below + 1);
    }
}

TEST_CASE("The errors of few levels add up to at most eps W") {
    int with_few = 0;
    for (double eps = 0.5; eps >= 1e-6; eps *= 0.81) {
        for (std::uint64_t window = 1; window < std::uint64_t{1} << 38U; window = window * 3 / 2 + 1) {
            const SlidingPlan plan({.eps = eps, .window = window});
            if (!plan.few) continue;
            ++with_few;
            CAPTURE(eps);
            CAPTURE(window);
            const auto w = static_cast<double>(window);
            double error = static_cast<double>(plan.block - 1);  // may be missing
            for (int l = 0; l < plan.top; l += plan.stride) error += plan.own_error(l) * ((1 << plan.stride) - 1);
            const auto top = static_cast<double>(plan.length(plan.top));
            CHECK(plan.top % plan.stride == 0);
            CHECK(plan.length(plan.top) <= window);
            CHECK(error + plan.own_error(plan.top) * w / top <= eps * w * (1 + 1e-12));
            CHECK(plan.rest_error(plan.block) * top / static_cast<double>(plan.block) <=
                  plan.own_error(plan.top) * (1 + 1e-12));
        }
    }
    CHECK(with_few > 100);
    CHECK_FALSE(SlidingPlan({.eps = 0.01, .window = 1'000'000, .widths = Widths::Variable}).few);
    CHECK_FALSE(SlidingPlan({.eps = 0.01, .window = 1'000'000, .paper = {.raw = RawValues::Never}}).few);
}

// As saved before there were few levels.
TEST_CASE("A saved window with all levels is loaded, answers and goes on") {
    const SlidingOptions options{.eps = 0.1, .window = 5'000};
    const auto values = stream("adversarial", 20'000, 54);
    SlidingState<QuantileSummary> old(rule_of<double>, "test", options, cpu_window_sorter(1), SlidingPlan::Levels::All);
    old.add(std::span(values).first(12'345));
    const auto saved = old.save();
    auto loaded = SlidingQuantiles<double>::load(saved);
    SlidingQuantiles<double> now(options);
    now.add(std::span(values).first(12'345));
    CHECK(loaded.save() == saved);
    CHECK(now.save() != saved);
    for (std::size_t end = 12'345; end <= values.size(); end += 765) {
        std::vector<Key> window;
        for (auto i = end - 5'000; i < end; ++i) window.push_back(key_of(values[i]));
        check_quantiles(loaded, window, 50);
        check_quantiles(now, window, 50);
        const auto more = std::span(values).subspan(end, std::min<std::size_t>(765, values.size() - end));
        loaded.add(more);
        now.add(more);
    }
    CHECK(SlidingQuantiles<double>::load(loaded.save()).save() == loaded.save());
}
