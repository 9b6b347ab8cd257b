// Summaries of numbers of 64 bits that stand for values of 32 bits (wide_rule_of), as the web module has them.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/counted_state.hpp"
#include "stream/quantiles_state.hpp"
#include "stream/sliding_state.hpp"

using namespace quadmill;
using namespace quadmill::detail::stream;

namespace {

using Cell = std::uint64_t;

// Many equal values; of floats also NaNs, infinities, denormals and zeros of both signs.
template <class T>
std::vector<T> mixed_values(std::size_t n) {
    std::mt19937 random(7);
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto bits = static_cast<std::uint32_t>(random());
        values[i] = i % 2 == 0 ? std::bit_cast<T>(bits) : static_cast<T>(bits % 5);
        if constexpr (std::is_same_v<T, float>) {
            if (i % 11 == 0) values[i] = -0.0F;
            if (i % 13 == 0) values[i] = std::numeric_limits<float>::infinity();
        }
    }
    return values;
}

template <class T>
std::vector<Cell> cells_of(const std::vector<T>& values) {
    std::vector<Cell> cells;
    for (const auto value : values) cells.push_back(wide_rule_of<T>.of_raw(std::bit_cast<std::uint32_t>(value)));
    return cells;
}

// Compares the bytes of a summary of values with those of the same summary of cells, also loaded. Returns the latter.
template <class T, class Wide, class State, class Narrow, class Load>
Wide check_same(Narrow narrow, std::unique_ptr<State> state, const Load& load) {
    const auto values = mixed_values<T>(20000);
    const auto cells = cells_of(values);
    auto wide = detail::Access::make<Wide>(std::move(state));
    narrow.add(std::span<const T>(values));
    wide.add(std::span<const Cell>(cells));
    CHECK(wide.n() == narrow.n());
    const auto saved = narrow.save();
    CHECK(wide.save() == saved);
    CHECK(detail::Access::make<Wide>(load(saved)).save() == saved);
    if constexpr (requires { wide.merge(wide); }) {
        narrow.merge(narrow);
        auto twice = detail::Access::make<Wide>(load(saved));
        twice.merge(twice);
        CHECK(twice.n() == 2 * wide.n());
        CHECK(twice.save() == narrow.save());
    }
    return wide;
}

}  // namespace

TEST_CASE_TEMPLATE("Numbers of 64 bits that stand for values of 32 bits: the same bytes and answers", T, float,
                   std::int32_t, std::uint32_t) {
    const auto& rule = wide_rule_of<T>;
    const auto sorter = [] { return cpu_window_sorter(1); };
    SUBCASE("Quantiles") {
        using State = QuantilesState;
        const QuantileOptions options{.eps = 0.01, .window = 3000};
        const auto wide =
            check_same<T, Quantiles<Cell>>(Quantiles<T>(options), std::make_unique<State>(rule, options, sorter()),
                                           [&](const auto& saved) { return State::load(rule, saved, sorter()); });
        Quantiles<T> narrow(options);
        narrow.add(std::span<const T>(mixed_values<T>(20000)));
        for (const double phi : {0.0, 0.2, 0.5, 0.9, 1.0}) {
            const auto found = rule.raw(rule.bits(wide.quantile(phi).value));
            CHECK(found == std::bit_cast<std::uint32_t>(narrow.quantile(phi).value));
        }
    }
    SUBCASE("Frequencies") {
        using State = FrequenciesState;
        const FrequencyOptions options{.eps = 0.01, .window = 3000};
        check_same<T, Frequencies<Cell>>(Frequencies<T>(options), std::make_unique<State>(rule, options, sorter()),
                                         [&](const auto& saved) { return State::load(rule, saved, sorter()); });
    }
    SUBCASE("Sliding windows, whose last values are saved as they are") {
        SlidingOptions options{.eps = 0.02, .window = 1000};
        SUBCASE("exact") {}
        SUBCASE("in blocks") {
            options.window = 15000;
        }
        SUBCASE("in blocks of few levels") {
            options = {.eps = 0.1, .window = 5000};
        }
        SUBCASE("of any width") {
            options.widths = Widths::Variable;
        }
        SUBCASE("by levels") {
            options.window = 15000;
            options.paper.blocks = SlidingBlocks::Sorted;
        }
        using State = SlidingState<QuantileSummary>;
        check_same<T, SlidingQuantiles<Cell>>(
            SlidingQuantiles<T>(options), std::make_unique<State>(rule, "SlidingQuantiles", options, sorter()),
            [&](const auto& saved) { return State::load(rule, "SlidingQuantiles::load", saved, sorter()); });
    }
}

TEST_CASE("Heavy prefixes of 64-bit numbers that stand for values of 32 bits") {
    using State = HeavyPrefixesState;
    const auto& rule = wide_rule_of<std::uint32_t>;
    const HeavyPrefixOptions options{.eps = 0.01, .support = 0.1, .lengths = {0, 8, 16, 24, 32}};
    const auto wide = check_same<std::uint32_t, HeavyPrefixes<Cell>>(
        HeavyPrefixes<std::uint32_t>(options), std::make_unique<State>(rule, options, cpu_window_sorter(1)),
        [&](const auto& saved) { return State::load(rule, saved, cpu_window_sorter(1)); });
    HeavyPrefixes<std::uint32_t> narrow(options);
    narrow.add(std::span<const std::uint32_t>(mixed_values<std::uint32_t>(20000)));
    const auto found = wide.heavy(0.1);
    const auto expected = narrow.heavy(0.1);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].value == expected[i].value);
        CHECK(found[i].length == expected[i].length);
        CHECK(found[i].count.lower == expected[i].count.lower);
    }
}
