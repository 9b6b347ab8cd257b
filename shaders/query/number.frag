// Converts a measured aggregate of a column to a number of the caller's type. Integers are computed with 128 bits, in
// two's complement. Needs doubles.glsl, values.glsl, shifted.glsl and integers.glsl before it.
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
uniform uint least_count;  // with fewer values, the result is NaN, or 0 as an integer
out uvec4 words;

uvec2 power_of_2(int exponent) { return uvec2(0u, uint(1023 + exponent) << 20); }

// The bits of a double. Rounded once, if the integer fits into 64 bits.
uvec2 double_of(uvec4 i) {
    bool below = is_negative(i);
    if (below) i = negative(i);
    uvec2 low = add_doubles(multiply_doubles(double_of(i.y), power_of_2(32)), double_of(i.x));
    uvec2 high = add_doubles(multiply_doubles(double_of(i.w), power_of_2(32)), double_of(i.z));
    uvec2 sum = add_doubles(multiply_doubles(high, power_of_2(64)), low);
    return below ? negative_double(sum) : sum;
}

// Rounds a double towards 0. Numbers beyond 64 bits give some number beyond 64 bits.
uvec4 integer_of(uvec2 d) {
    int exponent = int(d.y >> 20 & 0x7ffu) - 1023;
    uvec2 digits = uvec2(d.x << 11, 0x80000000u | d.y << 11 | d.x >> 21);
    if (exponent < 0 || (exponent == 1024 && ((d.y & 0xfffffu) | d.x) != 0u)) return uvec4(0u);
    uvec4 i = exponent > 63 ? uvec4(0u, 0u, 1u, 0u) : uvec4(shifted(digits, 63 - exponent), 0u, 0u);
    return (d.y & 0x80000000u) != 0u ? negative(i) : i;
}

uvec4 words_of(uvec4 i) {
    uint sign = is_negative(i) ? 0xffffffffu : 0u;
    bool fits_32 = i.yzw == uvec3(sign) && ((i.x ^ sign) & 0x80000000u) == 0u;
    bool fits_64 = i.zw == uvec2(sign) && ((i.y ^ sign) & 0x80000000u) == 0u;
    if (to == F32) return uvec4(narrowed_double(double_of(i)), 0u, 0u, 0u);
    if (to == F64) return uvec4(double_of(i), 0u, 0u);
    if (to == I32) return uvec4(fits_32 ? i.x : sign ^ 0x7fffffffu, 0u, 0u, 0u);
    if (to == U32) return uvec4(sign != 0u ? 0u : i.yzw == uvec3(0u) ? i.x : 0xffffffffu, 0u, 0u, 0u);
    return fits_64 ? uvec4(i.xy, 0u, 0u) : uvec4(~sign, sign ^ 0x7fffffffu, 0u, 0u);
}
uvec4 words_of(uvec2 d) {
    if (to == F32) return uvec4(narrowed_double(d), 0u, 0u, 0u);
    if (to == F64) return uvec4(d, 0u, 0u);
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
    uvec2 d = sum.xy;
#elif defined(CONSTANT)
    uvec4 d = sum;
#else
    uvec4 d = without_bias(sum, n);
#endif
#if defined(AVERAGE) && defined(DOUBLES)
    return words_of(divide_doubles(d, double_of(n)));
#elif defined(AVERAGE)
    return words_of(divide_doubles(double_of(d), double_of(n)));
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
