#include "stream/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace quadmill::detail::stream {

namespace {

constexpr std::int64_t base = std::int64_t{1} << 32U;

// value = bits * 2^exponent.
struct Parts {
    std::uint64_t bits;
    int exponent;
    bool negative;
};

Parts parts_of(double value) {
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    return {static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent - 53, std::signbit(value)};
}

}  // namespace

void ExactSum::add(double a, double b) {
    const auto x = parts_of(a), y = parts_of(b);
    add_bits(static_cast<Wide>(x.bits) * y.bits, x.exponent + y.exponent, x.negative != y.negative);
}

void ExactSum::add(const ExactSum& other, double factor) {
    const auto all = other.magnitude();
    const auto by = parts_of(factor);
    for (std::size_t i = 0; i < digits; ++i) {
        if (all.digits[i] == 0) continue;
        const auto exponent = static_cast<int>(32 * i) - lowest + by.exponent;
        add_bits(static_cast<Wide>(all.digits[i]) * by.bits, exponent, all.negative != by.negative);
    }
}

// The bits below the lowest digit are 0: no product of two doubles has bits there.
void ExactSum::add_bits(Wide bits, int exponent, bool negative) {
    if (bits == 0) return;
    const auto low_half = static_cast<std::uint64_t>(bits), high_half = static_cast<std::uint64_t>(bits >> 64U);
    const auto zeros = low_half != 0 ? std::countr_zero(low_half) : 64 + std::countr_zero(high_half);
    bits >>= static_cast<unsigned>(zeros);
    exponent += zeros;
    const auto index = static_cast<std::size_t>(exponent + lowest);
    const auto shift = static_cast<unsigned>(index % 32);
    auto digit = index / 32;
    auto low = static_cast<std::uint64_t>(bits << shift) & 0xffffffffU;
    bits >>= 32 - shift;
    while (true) {
        digits_[digit++] += negative ? -static_cast<std::int64_t>(low) : static_cast<std::int64_t>(low);
        if (bits == 0) break;
        low = static_cast<std::uint64_t>(bits) & 0xffffffffU;
        bits >>= 32U;
    }
    if (++adds_ < (1U << 29U)) return;
    carry(digits_);
    adds_ = 0;
}

// Afterwards all digits but the last are between 0 and 2^32 - 1, and the last digit has the sign of the sum.
void ExactSum::carry(Digits& all) {
    for (std::size_t i = 0; i + 1 < digits; ++i) {
        const auto over = all[i] >> 32;  // rounds towards -infinity
        all[i] -= over * base;
        all[i + 1] += over;
    }
}

ExactSum::Magnitude ExactSum::magnitude() const {
    Magnitude out{digits_, false};
    carry(out.digits);
    if (out.digits.back() < 0) {
        out.negative = true;
        for (auto& digit : out.digits) digit = -digit;
        carry(out.digits);
    }
    return out;
}

int ExactSum::sign() const {
    const auto all = magnitude();
    if (std::ranges::all_of(all.digits, [](std::int64_t digit) { return digit == 0; })) return 0;
    return all.negative ? -1 : 1;
}

double ExactSum::nearest(std::uint64_t divisor) const {
    auto all = magnitude();
    Wide rest = 0;
    for (std::size_t i = digits; i-- > 0;) {
        rest = rest << 32U | static_cast<std::uint64_t>(all.digits[i]);
        all.digits[i] = static_cast<std::int64_t>(rest / divisor);
        rest %= divisor;
    }
    auto top = digits;
    while (top > 0 && all.digits[top - 1] == 0) --top;
    if (top < 3) return 0;  // far below the smallest double
    Wide bits = 0;
    for (std::size_t i = top; i-- > top - 3;) bits = bits << 32U | static_cast<std::uint64_t>(all.digits[i]);
    bool more = rest != 0;
    for (std::size_t i = 0; i < top - 3; ++i) more = more || all.digits[i] != 0;
    const auto exponent = static_cast<int>(32 * (top - 3)) - lowest;
    const auto high = static_cast<std::uint64_t>(bits >> 64U);  // not 0
    const auto end = exponent + 64 + static_cast<int>(std::bit_width(high));
    constexpr int min = std::numeric_limits<double>::min_exponent - std::numeric_limits<double>::digits;
    const auto last = std::max(end - std::numeric_limits<double>::digits, min);  // exponent of the last bit
    const auto off = last - exponent;                                            // at least 12
    if (off > 100) return 0;
    auto kept = static_cast<std::uint64_t>(bits >> static_cast<unsigned>(off));
    const auto half = Wide{1} << static_cast<unsigned>(off - 1);
    const auto lost = bits & (half | (half - 1));
    kept += lost > half || (lost == half && (more || kept % 2 == 1));
    const auto value = std::ldexp(static_cast<double>(kept), last);
    return all.negative ? -value : value;
}

double ExactSum::below() const {
    const double value = nearest();
    if (std::isinf(value)) return value > 0 ? std::numeric_limits<double>::max() : value;
    ExactSum over(value);
    over.add(*this, -1);
    return over.sign() > 0 ? std::nextafter(value, -std::numeric_limits<double>::infinity()) : value;
}

double ExactSum::above() const {
    ExactSum turned;
    turned.add(*this, -1);
    const double value = turned.below();
    return value == 0 ? 0 : -value;
}

void ExactSum::write(Writer& to) const {
    const auto all = magnitude();
    std::size_t first = 0, end = digits;
    while (end > 0 && all.digits[end - 1] == 0) --end;
    while (first < end && all.digits[first] == 0) ++first;
    to.u64(end - first);
    if (first == end) return;
    to.u64(all.negative);
    to.u64(first);
    for (auto i = first; i < end; ++i) to.u64(static_cast<std::uint64_t>(all.digits[i]));
}

ExactSum ExactSum::read(Reader& from) {
    ExactSum sum;
    const auto count = from.count();
    if (count == 0) return sum;
    const auto negative = from.u64(), first = from.u64();
    from.require(negative <= 1 && count < digits && first < digits - count, "an exact sum");
    for (std::size_t i = 0; i < count; ++i) {
        const auto digit = from.u64();
        from.require(digit < static_cast<std::uint64_t>(base) && (digit > 0 || (i > 0 && i + 1 < count)),
                     "an exact sum");
        sum.digits_[static_cast<std::size_t>(first) + i] =
            negative == 1 ? -static_cast<std::int64_t>(digit) : static_cast<std::int64_t>(digit);
    }
    return sum;
}

}  // namespace quadmill::detail::stream
