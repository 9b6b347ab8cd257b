// Converts keys back to numbers. The order of keys is described at the head of keys.hpp. A type is 0 F32, 1 F64, 2 I32,
// 3 U32, 4 I64.
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

// 2^-149 and 2^32 as bits: NVIDIA rounds some literals wrongly.
const uvec2 least_float = uvec2(0u, 0x36a00000u);
const uvec2 two_to_32 = uvec2(0u, 0x41f00000u);

// Exact, except for I64, which is rounded once. Denormal floats, which the GPU may flush, are converted by their
// digits.
double to_double(uint key, int type) {
    if (type == I32) return double(int(key ^ 0x80000000u));
    if (type == U32) return double(key);
    uint bits = float_bits(key);
    if ((bits & 0x7f800000u) != 0u) return double(uintBitsToFloat(bits));
    precise double tiny = double(bits & 0x7fffffu) * packDouble2x32(least_float);
    return (bits & 0x80000000u) != 0u ? -tiny : tiny;
}
double to_double(uvec2 key, int type) {
    if (type == I64) {
        precise double sum = double(int(key.y ^ 0x80000000u)) * packDouble2x32(two_to_32) + double(key.x);
        return sum;
    }
    return packDouble2x32(float_bits(key));
}

// Rounded to the nearest float. An F32 is not rounded, but denormals may become 0.
float to_float(uint key, int type) {
    if (type == I32) return float(int(key ^ 0x80000000u));
    if (type == U32) return float(key);
    return uintBitsToFloat(float_bits(key));
}
float to_float(uvec2 key, int type) { return float(to_double(key, type)); }
