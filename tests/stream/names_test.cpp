// Names and numbers of different ones, against exact counts.
#include "quadmill/names.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

#include "quadmill/error.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

using Names = Frequencies<std::string>;
using Weights = std::map<std::string, std::uint64_t>;

void check_names(const Names& summary, const Weights& exact) {
    std::uint64_t n = 0;
    for (const auto& [name, weight] : exact) n += weight;
    REQUIRE(summary.n() == n);
    const auto allowed = summary.eps() * static_cast<double>(n) * (1 + 1e-9);
    for (const auto& [name, weight] : exact) {
        const auto count = summary.count(name);
        REQUIRE(count.lower <= weight);
        REQUIRE(weight <= count.upper);
        REQUIRE(count.estimate <= weight);
        REQUIRE(static_cast<double>(weight - count.estimate) <= allowed);
    }
    CHECK(static_cast<double>(summary.count("not there").upper) <= allowed);
    for (const double support : {summary.eps(), std::max(summary.eps(), 0.05), 1.0}) {
        const auto found = summary.frequent(support);
        std::set<std::string> names;
        for (const auto& one : found) {
            names.insert(one.value);
            CHECK(static_cast<double>(exact.at(one.value)) >=
                  (support - summary.eps()) * static_cast<double>(n) * (1 - 1e-9));
        }
        for (const auto& [name, weight] : exact)
            CHECK((static_cast<double>(weight) < support * static_cast<double>(n) || names.contains(name)));
    }
    const auto top = summary.top(3);
    CHECK(top.size() <= 3);
    for (std::size_t i = 1; i < top.size(); ++i) CHECK(top[i - 1].count.estimate >= top[i].count.estimate);
    for (const auto& [name, weight] : exact) {
        if (top.size() < 3 || std::ranges::find(top, name, &Frequent<std::string>::value) != top.end()) continue;
        CHECK(static_cast<double>(weight) <= static_cast<double>(exact.at(top.back().value)) + allowed);
    }
}

}  // namespace

TEST_CASE("Names keep eps for every order, with weights, merged in trees and saved between") {
    for (const auto& order : orders) {
        CAPTURE(order);
        const auto values = stream(order, 8'000, 3);
        for (const double eps : {0.3, 0.02, 0.001}) {
            Names whole({.eps = eps});
            std::vector<Names> parts(9, Names({.eps = eps}));
            Weights exact;
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto name = std::to_string(static_cast<std::int64_t>(values[i]));
                const auto weight = i % 7 == 0 ? i % 50 : 1;
                if (weight > 0) exact[name] += weight;
                whole.add(name, weight);
                parts[i % parts.size()].add(name, weight);
            }
            check_names(whole, exact);
            CHECK(static_cast<double>(whole.bytes()) <= 1000 + 80 * std::ceil(2 / eps));  // names are short
            for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2)) {
                for (std::size_t i = 0; i < parts.size() / 2; ++i) {
                    auto& other = parts[parts.size() - 1 - i];
                    parts[i].merge(Names::load(other.save()));
                }
            }
            check_names(parts[0], exact);
            const auto again = copy_of(parts[0]);
            check_names(again, exact);
            CHECK(again.save() == parts[0].save());
            parts[0].merge(parts[0]);
            for (auto& [name, weight] : exact) weight *= 2;
            check_names(parts[0], exact);
        }
    }
    CHECK_THROWS_AS(Names({.eps = 0.9}), InvalidArgument);
    Names full({.eps = 0.1});
    full.add("", std::uint64_t{1} << 60U);
    CHECK(full.count("").lower == std::uint64_t{1} << 60U);
    CHECK_THROWS_AS(full.add("a"), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(full.frequent(0.01)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(Names::load(Distinct().save())), InvalidArgument);
}

TEST_CASE("The number of different ones is exact while few and within its bounds in 99 of 100 streams") {
    std::mt19937_64 random(44);
    for (const double error : {0.25, 0.05, 0.01}) {
        std::size_t outside = 0, trials = 0;
        double squares = 0;
        for (int trial = 0; trial < 40; ++trial) {
            Distinct one(error), other(error), both(error);
            std::vector<std::uint64_t> values;
            const auto size = static_cast<std::size_t>(std::exp(static_cast<double>(random() % 1000) / 1000 * 11));
            for (std::size_t i = 0; i < size; ++i) values.push_back(random());
            const auto half = size / 2, third = size / 3;
            one.add(std::span<const std::uint64_t>(values).first(size - third));
            other.add(std::span<const std::uint64_t>(values).subspan(half));
            both.add(std::span<const std::uint64_t>(values));
            both.add(std::span<const std::uint64_t>(values));
            auto merged = copy_of(one);
            merged.merge(other);
            CHECK(merged.save() == both.save());
            CHECK(both.bytes() <= 100 + std::bit_ceil(static_cast<std::size_t>(1.0816 / (error * error))));
            merged.merge(merged);
            const auto count = copy_of(merged).count();
            CHECK(count.lower <= count.estimate);
            CHECK(count.estimate <= count.upper);
            if (merged.is_exact()) {
                CHECK(count == Count{size, size, size});
                continue;
            }
            ++trials;
            outside += size < count.lower || size > count.upper;
            const auto off =
                (static_cast<double>(count.estimate) - static_cast<double>(size)) / static_cast<double>(size);
            squares += off * off;
        }
        CAPTURE(error);
        REQUIRE(trials > 5);
        CHECK(outside <= 1);
        CHECK(std::sqrt(squares / static_cast<double>(trials)) <= 1.5 * error);
    }
}

TEST_CASE("Different names and values") {
    Distinct names, floats;
    for (int i = 0; i < 100'000; ++i) names.add("user " + std::to_string(i % 50'000));
    const auto count = names.count();
    CHECK(count.lower <= 50'000);
    CHECK(count.upper >= 50'000);
    names = Distinct();
    for (const char* name : {"", "a", "b", "a", "ab", "12345678", "123456780"}) names.add(std::string_view(name));
    names.add(std::string_view("a\0", 2));
    CHECK(names.count() == Count{7, 7, 7});
    floats.add(std::span<const float>(std::array{0.0F, -0.0F, 1.0F, std::numeric_limits<float>::quiet_NaN()}));
    CHECK(floats.count() == Count{2, 2, 2});
    CHECK(Distinct().count() == Count{0, 0, 0});
    CHECK_THROWS_AS(Distinct(0.001), InvalidArgument);
    CHECK_THROWS_AS(Distinct(0.1).merge(Distinct(0.01)), InvalidArgument);
}
