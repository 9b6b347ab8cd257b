// Heavy prefixes: none is missed, and bounds are compared with exact counts.
#include <doctest/doctest.h>

#include <array>

#include "quadmill/error.hpp"
#include "quadmill/names.hpp"
#include "quadmill/stream.hpp"
#include "stream/orders.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

struct Node {
    int length;
    std::uint32_t value;
    auto operator<=>(const Node&) const = default;
};

std::uint32_t top_bits(std::uint32_t value, int length) {
    return length == 0 ? 0 : value >> static_cast<unsigned>(32 - length) << static_cast<unsigned>(32 - length);
}

// Exact counts of the values that have each prefix but none of the longer prefixes in `heavy`.
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

// The IPv6 address that begins with the value, and the value of an address.
Ipv6 address(std::uint32_t value) {
    Ipv6 out;
    for (unsigned i = 0; i < 4; ++i) out.bytes[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
    return out;
}
std::uint32_t first_bits(const Ipv6& address) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value = value << 8U | address.bytes[i];
    return value;
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
                const auto check = [&](double s, const std::vector<HeavyPrefix<std::uint32_t>>& found) {
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
                };
                for (const double s : {support, 0.1, 0.3}) check(s, summary.heavy(s));
                const auto bytes = summary.save();
                CHECK(HeavyPrefixes<std::uint32_t>::load(bytes).save() == bytes);
                if (window > 0 || eps < 0.01) continue;
                HeavyPrefixes<Ipv6> addresses({.eps = eps, .support = support, .lengths = lengths});
                HeavyPrefixes<Ipv6> others({.eps = eps / 2, .support = support, .lengths = lengths});
                for (std::size_t i = 0; i < values.size(); ++i)
                    (i < 20'000 ? addresses : others).add(std::array{address(values[i])});
                addresses.merge(HeavyPrefixes<Ipv6>::load(others.save()));
                REQUIRE(addresses.n() == values.size());
                for (const double s : {support, 0.1, 0.3}) {
                    std::vector<HeavyPrefix<std::uint32_t>> found;
                    for (const auto& [value, length, count, rest] : addresses.heavy(s)) {
                        CHECK(value == address(first_bits(value)));
                        found.push_back({first_bits(value), length, count, rest});
                    }
                    check(s, found);
                }
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
        // 10.1.2.3 has the 4 tenths that make all of its shorter prefixes heavy, too.
        if (s == 0.2) CHECK(found.size() > summary.heavy(s).size());
    }
}

TEST_CASE("Heavy prefixes of 64-bit values, and invalid options") {
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
    // The error of each length is even smaller: down to the smallest promised one.
    for (const auto& [eps, support] : {std::pair{1e-5, 1e-4}, std::pair{1e-6, 2e-6}}) {
        HeavyPrefixes<std::uint32_t> fine({.eps = eps, .support = support, .lengths = {8, 16}});
        fine.add(std::vector<std::uint32_t>(1000, 7));
        CHECK(fine.heavy(support).size() == 1);
        CHECK(HeavyPrefixes<std::uint32_t>::load(fine.save()).n() == 1000);
    }
    CHECK_THROWS_AS(Wide({.eps = 0.01, .support = 0.1, .lengths = {}}), InvalidArgument);
    CHECK_THROWS_AS(Wide({.eps = 0.01, .support = 0.1, .lengths = {8, 8}}), InvalidArgument);
    CHECK_THROWS_AS(Wide({.eps = 0.01, .support = 0.1, .lengths = {8, 65}}), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(wide.heavy(0.05)), InvalidArgument);
}
