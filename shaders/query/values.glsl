// Converts keys back to numbers. The order of keys is described at the head of keys.hpp. A type is 0 F32, 1 F64, 2 I32,
// 3 U32, 4 I64. Needs doubles.glsl before it.
#define F32 0
#define F64 1
#define I32 2
#define U32 3
#define I64 4

// Bits of a float: the inverse of the step that puts all NaNs last.
uint float_bits(uint key) {
    uint v = key + 0x7fffffu;
    return v ^ ((v & 0x80000000u) != 0u ? 0x80000000u : 0xffffffffu);
}
uvec2 float_bits(uvec2 key) {
    uvec2 v = uvec2(key.x - 1u, key.y + 0xfffffu + (key.x == 0u ? 0u : 1u));
    return v ^ ((v.y & 0x80000000u) != 0u ? uvec2(0u, 0x80000000u) : uvec2(0xffffffffu));
}

// 2^32 as bits.
const uvec2 two_to_32 = uvec2(0u, 0x41f00000u);

// The bits of the double that a float is.
uvec2 widened_float(uint bits) {
    uint sign = bits & 0x80000000u;
    uint exponent = bits >> 23 & 0xffu;
    uint digits = bits & 0x7fffffu;
    if (exponent == 0u) {
        uvec2 tiny = double_of(digits);  // times 2^-149
        return uvec2(tiny.x, (digits == 0u ? 0u : tiny.y - (149u << 20)) | sign);
    }
    return uvec2(digits << 29, sign | (exponent == 255u ? 0x7ffu : exponent + 896u) << 20 | digits >> 3);
}

// The bits of a double: exact, except for I64, which is rounded once.
uvec2 to_double(uint key, int type) {
    if (type == I32) return double_of(int(key ^ 0x80000000u));
    if (type == U32) return double_of(key);
    return widened_float(float_bits(key));
}
uvec2 to_double(uvec2 key, int type) {
    if (type == I64)
        return add_doubles(multiply_doubles(double_of(int(key.y ^ 0x80000000u)), two_to_32), double_of(key.x));
    return float_bits(key);
}

// The bits of the nearest float; of two as near, the even one.
uint narrowed_double(uvec2 bits) {
    uint sign = bits.y & 0x80000000u;
    int exponent = int(bits.y >> 20 & 0x7ffu) - 896;
    if (exponent >= 255) return sign | (is_nan(bits) ? 0x7fc00000u : 0x7f800000u);
    uint m = right_64(significand_of(bits), 26 + max(1 - exponent, 0)).x;  // three bits longer than a float's
    uint rest = m & 7u;
    m >>= 3;
    if (rest > 4u || (rest == 4u && (m & 1u) != 0u)) ++m;
    return sign | (m + (uint(max(exponent - 1, 0)) << 23));
}

// Rounded to the nearest float. An F32 is not rounded, but denormals may become 0.
float to_float(uint key, int type) {
    if (type == I32) return float(int(key ^ 0x80000000u));
    if (type == U32) return float(key);
    return uintBitsToFloat(float_bits(key));
}
float to_float(uvec2 key, int type) { return uintBitsToFloat(narrowed_double(to_double(key, type))); }
