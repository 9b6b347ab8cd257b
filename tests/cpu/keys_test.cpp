// 16-bit floats and the total order over all bits.
#include "cpu/keys.hpp"

#include <doctest/doctest.h>

#include "sort/data.hpp"

using namespace quadmill;               // NOLINT(google-build-using-namespace)
using namespace quadmill::test;         // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::cpu;  // NOLINT(google-build-using-namespace)

TEST_CASE("Every half converts to a float and back") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const auto exponent = static_cast<int>((bits >> 10U) & 31U), fraction = static_cast<int>(bits & 1023U);
        const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        const float value = half.value();
        if (exponent < 31) wrong += static_cast<double>(std::abs(value)) != magnitude;
        if (exponent == 31) wrong += fraction ? !std::isnan(value) : !std::isinf(value);
        wrong += std::signbit(value) != (bits >= 0x8000U);
        wrong += Half::from_float(value).bits != half.bits;
    }
    CHECK(wrong == 0);
}

TEST_CASE("Half::from_float rounds to the nearest, ties to even") {
    std::mt19937_64 random(5);
    int wrong = 0;
    for (int i = 0; i < 200'000; ++i) {
        auto bits = static_cast<std::uint32_t>(random());
        if (i % 2) bits = (bits & 0x80ffffffU) | (0x33000000U + (bits & 0x0f000000U) % 0x15000000U);
        const auto value = std::bit_cast<float>(bits);
        if (std::isnan(value)) continue;
        const Half half = Half::from_float(value);
        const auto magnitude = static_cast<double>(std::abs(value));
        if (magnitude >= 65520) {
            wrong += (half.bits & 0x7fffU) != 0x7c00U;
            continue;
        }
        // No neighbour is nearer. If two are equally near, the even one is taken.
        const auto distance = [&](unsigned h) {
            return std::abs(static_cast<double>(Half{static_cast<std::uint16_t>(h)}.value()) - magnitude);
        };
        const unsigned h = half.bits & 0x7fffU;
        const double here = distance(h);
        if (h > 0) wrong += distance(h - 1) < here || (distance(h - 1) == here && (h & 1U));
        if (h < 0x7bffU) wrong += distance(h + 1) < here || (distance(h + 1) == here && (h & 1U));
    }
    CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("The total order is a bijection that agrees with the reference", Float, float, Half) {
    for (const auto order : {Order::Ascending, Order::Descending}) {
        const TotalOrder<Float> rule(order);
        auto values = make<Float>("any bits", 20'000, 7);
        for (const auto& more : {"specials", "denormals", "all NaN"}) {
            const auto extra = make<Float>(more, 500, 8);
            values.insert(values.end(), extra.begin(), extra.end());
        }
        using Traits = KeyBits<Float>;
        int wrong = 0;
        for (std::size_t i = 0; i + 1 < values.size(); ++i) {
            const auto a = Traits::of(values[i]), b = Traits::of(values[i + 1]);
            wrong += rule.decode(rule.encode(a)) != a;
            wrong += (rule.encode(a) < rule.encode(b)) !=
                     (quadmill::test::rank(values[i], order) < quadmill::test::rank(values[i + 1], order));
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("Normal numbers, infinities and +0 can be blended") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const float value = Half{static_cast<std::uint16_t>(bits)}.value();
        const bool denormal = value != 0 && std::abs(value) < 0x1p-14F;
        const bool expected = !std::isnan(value) && !denormal && bits != 0x8000U;
        wrong += blendable<Half>(static_cast<std::uint16_t>(bits)) != expected;
    }
    for (const auto& name : {"any bits", "specials", "denormals"}) {
        for (const float value : make<float>(name, 10'000, 3)) {
            const bool minus_zero = value == 0 && std::signbit(value);
            const bool expected = !std::isnan(value) && std::fpclassify(value) != FP_SUBNORMAL && !minus_zero;
            wrong += blendable<float>(std::bit_cast<std::uint32_t>(value)) != expected;
        }
    }
    CHECK(wrong == 0);
}
