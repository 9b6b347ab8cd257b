// Arithmetic of doubles, each as its bits: the low word, then the high one. GLSL 4.00 has doubles. Where there are none
// (NO_DOUBLES), integers compute the same: IEEE 754, rounded to nearest, ties to even, with denormals. So results have
// the same bits, except those of NaNs and where a driver takes denormal doubles for 0.
#ifndef QUERY_DOUBLES
#define QUERY_DOUBLES
const uvec2 nan_double = uvec2(0u, 0x7ff80000u);

uvec2 negative_double(uvec2 a) { return uvec2(a.x, a.y ^ 0x80000000u); }

bool is_below(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
uvec2 sum_64(uvec2 a, uvec2 b) {
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
uvec2 left_64(uvec2 a, int shift) {
    if (shift >= 32) return uvec2(0u, a.x << (shift - 32));
    return shift == 0 ? a : uvec2(a.x << shift, a.y << shift | a.x >> (32 - shift));
}
// The lowest bit of the result is also set if a bit that was shifted out was.
uvec2 right_64(uvec2 a, int shift) {
    if (shift == 0) return a;
    if (shift >= 64) return uvec2((a.x | a.y) != 0u ? 1u : 0u, 0u);
    uvec2 rest = left_64(a, 64 - shift);
    uvec2 whole = shift >= 32 ? uvec2(a.y >> (shift - 32), 0u)
                              : uvec2(a.x >> shift | a.y << (32 - shift), a.y >> shift);
    return uvec2(whole.x | ((rest.x | rest.y) != 0u ? 1u : 0u), whole.y);
}
int leading_zeros(uint a) {
    int zeros = a == 0u ? 1 : 0;
    for (int step = 16; step > 0; step >>= 1) {
        if (a >> (32 - step) != 0u) continue;
        a <<= step;
        zeros += step;
    }
    return zeros;
}
int leading_zeros(uvec2 a) { return a.y != 0u ? leading_zeros(a.y) : 32 + leading_zeros(a.x); }

int exponent_of(uvec2 a) { return max(int(a.y >> 20 & 0x7ffu), 1); }
uvec2 significand_of(uvec2 a) {
    return uvec2(a.x, (a.y & 0xfffffu) | ((a.y & 0x7ff00000u) != 0u ? 0x100000u : 0u));
}
bool is_finite(uvec2 a) { return (a.y & 0x7ff00000u) != 0x7ff00000u; }
bool is_nan(uvec2 a) { return !is_finite(a) && ((a.y & 0xfffffu) | a.x) != 0u; }
bool is_zero(uvec2 a) { return ((a.y & 0x7fffffffu) | a.x) == 0u; }

// The number whose significand is m, three bits longer than a double's and with its leading bit at 55.
uvec2 rounded(uint sign, int exponent, uvec2 m) {
    m = right_64(m, max(1 - exponent, 0));
    uint rest = m.x & 7u;
    m = uvec2(m.x >> 3 | m.y << 29, m.y >> 3);
    if (rest > 4u || (rest == 4u && (m.x & 1u) != 0u)) m = sum_64(m, uvec2(1u, 0u));
    m.y += uint(max(exponent - 1, 0)) << 20;  // the leading bit adds 1 to the exponent
    if (m.y >= 0x7ff00000u) m = uvec2(0u, 0x7ff00000u);
    return uvec2(m.x, m.y | sign);
}

#ifndef NO_DOUBLES
uvec2 double_of(uint i) { return unpackDouble2x32(double(i)); }
uvec2 double_of(int i) { return unpackDouble2x32(double(i)); }
uvec2 add_doubles(uvec2 a, uvec2 b) {
    precise double sum = packDouble2x32(a) + packDouble2x32(b);
    return unpackDouble2x32(sum);
}
uvec2 multiply_doubles(uvec2 a, uvec2 b) {
    precise double product = packDouble2x32(a) * packDouble2x32(b);
    return unpackDouble2x32(product);
}
#else
uvec2 double_of(uint i) {
    if (i == 0u) return uvec2(0u);
    int zeros = leading_zeros(i);
    i <<= zeros;
    return uvec2(i << 21, (i >> 11) + (uint(1053 - zeros) << 20));
}
uvec2 double_of(int i) { return i < 0 ? negative_double(double_of(uint(-i))) : double_of(uint(i)); }

uvec2 add_doubles(uvec2 a, uvec2 b) {
    uvec2 size_a = uvec2(a.x, a.y & 0x7fffffffu);
    uvec2 size_b = uvec2(b.x, b.y & 0x7fffffffu);
    if (is_below(size_a, size_b)) {
        uvec2 larger = b;
        b = a;
        a = larger;
    }
    uint sign = a.y & 0x80000000u;
    bool subtracts = ((a.y ^ b.y) & 0x80000000u) != 0u;
    if (!is_finite(a)) return is_nan(a) || (subtracts && !is_finite(b)) ? nan_double : a;
    int exponent = exponent_of(a);
    uvec2 m = left_64(significand_of(a), 3);
    uvec2 other = right_64(left_64(significand_of(b), 3), exponent - exponent_of(b));
    m = sum_64(m, subtracts ? sum_64(~other, uvec2(1u, 0u)) : other);
    if ((m.x | m.y) == 0u) return uvec2(0u, subtracts ? 0u : sign);
    int zeros = leading_zeros(m) - 8;
    return rounded(sign, exponent - zeros, zeros < 0 ? right_64(m, 1) : left_64(m, zeros));
}

uvec2 multiply_doubles(uvec2 a, uvec2 b) {
    uint sign = (a.y ^ b.y) & 0x80000000u;
    if (!is_finite(a) || !is_finite(b))
        return is_nan(a) || is_nan(b) || is_zero(a) || is_zero(b) ? nan_double : uvec2(0u, sign | 0x7ff00000u);
    if (is_zero(a) || is_zero(b)) return uvec2(0u, sign);
    uvec2 m = significand_of(a);
    uvec2 n = significand_of(b);
    int zeros_a = leading_zeros(m);
    int zeros_b = leading_zeros(n);
    m = left_64(m, zeros_a);
    n = left_64(n, zeros_b);
    uvec2 low, left, right, high;
    umulExtended(m.x, n.x, low.y, low.x);
    umulExtended(m.y, n.x, left.y, left.x);
    umulExtended(m.x, n.y, right.y, right.x);
    umulExtended(m.y, n.y, high.y, high.x);
    uvec2 middle = sum_64(left, uvec2(low.y, 0u));
    uvec2 both = sum_64(middle, uvec2(right.x, 0u));
    high = sum_64(sum_64(high, uvec2(both.y, 0u)), uvec2(right.y, 0u));
    if ((low.x | both.x) != 0u) high.x |= 1u;
    int exponent = exponent_of(a) + exponent_of(b) - (zeros_a - 11) - (zeros_b - 11) - 1023;
    bool is_long = (high.y & 0x80000000u) != 0u;
    return rounded(sign, is_long ? exponent + 1 : exponent, right_64(high, is_long ? 8 : 7));
}
#endif

// In integers everywhere: a quotient of GLSL may be 2.5 units in the last place away.
uvec2 divide_doubles(uvec2 a, uvec2 b) {
    uint sign = (a.y ^ b.y) & 0x80000000u;
    if (is_nan(a) || is_nan(b) || (is_zero(a) && is_zero(b)) || (!is_finite(a) && !is_finite(b))) return nan_double;
    if (!is_finite(a) || is_zero(b)) return uvec2(0u, sign | 0x7ff00000u);
    if (!is_finite(b) || is_zero(a)) return uvec2(0u, sign);
    int zeros_a = leading_zeros(significand_of(a)) - 11;
    int zeros_b = leading_zeros(significand_of(b)) - 11;
    uvec2 rest = left_64(significand_of(a), zeros_a);
    uvec2 divisor = left_64(significand_of(b), zeros_b);
    int exponent = exponent_of(a) - zeros_a - exponent_of(b) + zeros_b + 1023;
    if (is_below(rest, divisor)) {
        rest = left_64(rest, 1);
        --exponent;
    }
    uvec2 quotient = uvec2(0u);
    for (int i = 0; i < 56; ++i) {
        quotient = left_64(quotient, 1);
        if (!is_below(rest, divisor)) {
            rest = sum_64(rest, sum_64(~divisor, uvec2(1u, 0u)));
            quotient.x |= 1u;
        }
        rest = left_64(rest, 1);
    }
    if ((rest.x | rest.y) != 0u) quotient.x |= 1u;
    return rounded(sign, exponent, quotient);
}
#endif
