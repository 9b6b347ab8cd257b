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

uvec4 subtract(uvec4 a, uvec4 b) { return add(a, negative(b)); }

// The low 128 bits of the product, which are the same for signed and unsigned numbers.
uvec4 multiply(uvec4 a, uvec4 b) {
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
    return a == b ? 2u : (high ? less(a.xy, b.xy) : less(a.zw, b.zw)) ? 1u : 4u;
}
#elif defined(AS_FLOATS)
uint relation(float a, float b) { return a < b ? 1u : a > b ? 4u : a == b ? 2u : 8u; }
#else
uint relation(double a, double b) { return a < b ? 1u : a > b ? 4u : a == b ? 2u : 8u; }
#endif

// Each variable is precise, so that no driver fuses a product and a sum.
uint compared(KEYS) { COMPUTE }
