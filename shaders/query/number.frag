// Converts a measured aggregate of a column to a number of the caller's type. Integers are computed with 128 bits, in
// two's complement. Needs values.glsl and integers.glsl before it.
//     texture0   KEY: a key in channels xy, or zw; INTEGERS, DOUBLES: the sum of keys or of values; otherwise unused
//     texture1   the number of values
// CONSTANT: the number itself is given, as an integer or, with DOUBLES, as a double.
#ifdef CONSTANT
uniform uvec4 constant;
#else
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform int type;  // of the column, as numbered in values.glsl
#endif
uniform int to;            // the caller's type
uniform uint least_count;  // with fewer values there is no number
out uvec4 words;

double power_of_2(int exponent) { return packDouble2x32(uvec2(0u, uint(1023 + exponent) << 20)); }

// Rounded once, if it fits into 64 bits.
double double_of(uvec4 i) {
    bool below = is_negative(i);
    if (below) i = negative(i);
    precise double low = double(i.y) * power_of_2(32) + double(i.x);
    precise double high = (double(i.w) * power_of_2(32) + double(i.z)) * power_of_2(64);
    precise double sum = high + low;
    return below ? -sum : sum;
}

// Rounded towards 0. Numbers beyond 64 bits give some number beyond 64 bits.
uvec4 integer_of(double d) {
    uvec2 bits = unpackDouble2x32(d);
    bool below = (bits.y & 0x80000000u) != 0u;
    bits.y &= 0x7fffffffu;
    if (bits.y > 0x7ff00000u || (bits.y == 0x7ff00000u && bits.x != 0u)) return uvec4(0u);
    uvec4 i = uvec4(0u, 0u, 1u, 0u);
    double size = packDouble2x32(bits);
    if (size < power_of_2(64)) {
        uint high = uint(size * power_of_2(-32));
        precise double low = size - double(high) * power_of_2(32);
        i = uvec4(uint(low), high, 0u, 0u);
    }
    return below ? negative(i) : i;
}

uvec4 words_of(uvec4 i) {
    uint sign = is_negative(i) ? 0xffffffffu : 0u;
    bool fits_32 = i.yzw == uvec3(sign) && ((i.x ^ sign) & 0x80000000u) == 0u;
    bool fits_64 = i.zw == uvec2(sign) && ((i.y ^ sign) & 0x80000000u) == 0u;
    if (to == F32) return uvec4(floatBitsToUint(float(double_of(i))), 0u, 0u, 0u);
    if (to == F64) return uvec4(unpackDouble2x32(double_of(i)), 0u, 0u);
    if (to == I32) return uvec4(fits_32 ? i.x : sign ^ 0x7fffffffu, 0u, 0u, 0u);
    if (to == U32) return uvec4(sign != 0u ? 0u : i.yzw == uvec3(0u) ? i.x : 0xffffffffu, 0u, 0u, 0u);
    return fits_64 ? uvec4(i.xy, 0u, 0u) : uvec4(~sign, sign ^ 0x7fffffffu, 0u, 0u);
}
uvec4 words_of(double d) {
    if (to == F32) return uvec4(floatBitsToUint(float(d)), 0u, 0u, 0u);
    if (to == F64) return uvec4(unpackDouble2x32(d), 0u, 0u);
    return words_of(integer_of(d));
}
uvec4 no_number() {
    return to == F32 ? uvec4(0x7fc00000u, 0u, 0u, 0u) : to == F64 ? uvec4(0u, 0x7ff80000u, 0u, 0u) : uvec4(0u);
}

#ifdef KEY
uvec4 words_of_key(uvec2 key) {
    uint sign = ((type == I64 ? key.y : key.x) & 0x80000000u) != 0u ? 0u : 0xffffffffu;
    if (type == U32) return words_of(uvec4(key.x, 0u, 0u, 0u));
    if (type == I32) return words_of(uvec4(key.x ^ 0x80000000u, uvec3(sign)));
    if (type == I64) return words_of(uvec4(key.x, key.y ^ 0x80000000u, uvec2(sign)));
    if (type == to) return type == F32 ? uvec4(float_bits(key.x), 0u, 0u, 0u) : uvec4(float_bits(key), 0u, 0u);
    return words_of(type == F32 ? to_double(key.x, type) : to_double(key, type));
}
#endif

#ifndef CONSTANT
// Keys of signed numbers are larger than the numbers by half of the range.
uvec4 without_bias(uvec4 sum, uint n) {
    if (type == I32) return add(sum, negative(uvec4(n << 31, n >> 1, 0u, 0u)));
    if (type == I64) return add(sum, negative(uvec4(0u, n << 31, n >> 1, 0u)));
    return sum;
}
#endif

uvec4 words_of_sum(uvec4 sum, uint n) {
#ifdef DOUBLES
    double d = packDouble2x32(sum.xy);
#elif defined(CONSTANT)
    uvec4 d = sum;
#else
    uvec4 d = without_bias(sum, n);
#endif
#if defined(AVERAGE) && defined(DOUBLES)
    return words_of(d / double(n));
#elif defined(AVERAGE)
    return words_of(double_of(d) / double(n));
#else
    return words_of(d);
#endif
}

void main() {
#ifdef CONSTANT
    words = least_count > 0u ? no_number() : words_of_sum(constant, 1u);
#else
    uint n = texelFetch(texture1, ivec2(0), 0).x;
    if (n < least_count) {
        words = no_number();
        return;
    }
#if defined(KEY)
    words = words_of_key(texelFetch(texture0, ivec2(0), 0).KEY);
#elif defined(INTEGERS) || defined(DOUBLES)
    words = words_of_sum(texelFetch(texture0, ivec2(0), 0), n);
#else
    words = words_of(uvec4(n, 0u, 0u, 0u));
#endif
#endif
}
