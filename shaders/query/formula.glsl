// Compares two sums of columns of a row, computed step by step as written: in doubles; with AS_INTEGERS in 128-bit
// integers, low words first; with AS_FLOATS in floats. SAMPLERS: the columns' textures, from texture1 on. KEYS:
// parameters with a row's keys. COMPUTE: one variable per step, then the relation. `wanted` is as in pair.frag. Needs
// keys.glsl, values.glsl and, with AS_INTEGERS, integers.glsl before it.
uniform uint wanted;
#ifdef AS_INTEGERS
uniform uvec4 constants[CONSTANTS];
#else
uniform uvec2 constants[CONSTANTS];  // bits of doubles, or in x of floats: NVIDIA keeps arrays of doubles as floats
#endif
SAMPLERS

#ifdef AS_INTEGERS
uvec4 widened(uint low, uint high) {
    uint sign = (high & 0x80000000u) != 0u ? 0xffffffffu : 0u;
    return uvec4(low, high, sign, sign);
}
uvec4 to_integer(uint key, int type) {
    if (type == U32) return uvec4(key, 0u, 0u, 0u);
    uint value = key ^ 0x80000000u;
    return widened(value, (value & 0x80000000u) != 0u ? 0xffffffffu : 0u);
}
uvec4 to_integer(uvec2 key, int type) { return widened(key.x, key.y ^ 0x80000000u); }

uvec4 negated(uvec4 a) { return negative(a); }
uvec4 sum(uvec4 a, uvec4 b) { return add(a, b); }
uvec4 difference(uvec4 a, uvec4 b) { return add(a, negative(b)); }

// The low 128 bits of the product, which are the same for signed and unsigned numbers.
uvec4 product(uvec4 a, uvec4 b) {
    uvec4 result = uvec4(0u);
    for (int i = 0; i < 4; ++i) {
        uint carry = 0u;
        for (int j = 0; j < 4 - i; ++j) {
            uint high;
            uint low;
            umulExtended(a[i], b[j], high, low);
            low += result[i + j];
            high += low < result[i + j] ? 1u : 0u;
            result[i + j] = low + carry;
            carry = high + (result[i + j] < low ? 1u : 0u);
        }
    }
    return result;
}

uint relation(uvec4 a, uvec4 b) {
    a.w ^= 0x80000000u;
    b.w ^= 0x80000000u;
    bool high = a.zw == b.zw;
    return a == b ? is_equal : (high ? less(a.xy, b.xy) : less(a.zw, b.zw)) ? is_less : is_greater;
}
#elif defined(AS_FLOATS)
// Each result is precise, so that no driver fuses a product and a sum.
float negated(float a) { return -a; }
float sum(float a, float b) {
    precise float result = a + b;
    return result;
}
float difference(float a, float b) {
    precise float result = a - b;
    return result;
}
float product(float a, float b) {
    precise float result = a * b;
    return result;
}
uint relation(float a, float b) { return a < b ? is_less : a > b ? is_greater : a == b ? is_equal : is_unordered; }
#else
uvec2 negated(uvec2 a) { return negative_double(a); }
uvec2 sum(uvec2 a, uvec2 b) { return add_doubles(a, b); }
uvec2 difference(uvec2 a, uvec2 b) { return add_doubles(a, negative_double(b)); }
uvec2 product(uvec2 a, uvec2 b) { return multiply_doubles(a, b); }
uint relation(uvec2 a, uvec2 b) {
    uvec2 size_a = uvec2(a.x, a.y & 0x7fffffffu);
    uvec2 size_b = uvec2(b.x, b.y & 0x7fffffffu);
    const uvec2 infinity = uvec2(0u, 0x7ff00000u);
    if (less(infinity, size_a) || less(infinity, size_b)) return is_unordered;
    if (size_a == uvec2(0u) && size_b == uvec2(0u)) return is_equal;
    bool a_negative = (a.y & 0x80000000u) != 0u;
    bool b_negative = (b.y & 0x80000000u) != 0u;
    if (a_negative != b_negative) return a_negative ? is_less : is_greater;
    return size_a == size_b ? is_equal : less(size_a, size_b) != a_negative ? is_less : is_greater;
}
#endif

uint compared(KEYS) { COMPUTE }
