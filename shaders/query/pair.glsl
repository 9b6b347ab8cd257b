// Converts keys of two columns to keys of a common type for a comparison; TYPE is as in values.glsl. AS_KEYS: both have
// the same type, and NaNs are above `most_number`. AS_INTEGERS: keys of 64-bit integers. AS_DOUBLES: keys of doubles.
// Needs keys.glsl and values.glsl before it.
uniform uvec2 most_number;

// The value as the key of a 64-bit integer.
uvec2 integer(uvec2 key, int type) {
    if (type == I64) return key;
    if (type == U32) return uvec2(key.x, 0x80000000u);
    uint value = key.x ^ 0x80000000u;
    return uvec2(value, (value & 0x80000000u) != 0u ? 0x7fffffffu : 0x80000000u);
}

// The value as the key of a double. Doubles themselves are not compared: a driver may treat denormals as 0.
uvec2 double_key(uvec2 key, int type) {
    if (type == F64) return key;
    uvec2 bits = type == I64 ? to_double(key, type) : to_double(key.x, type);
    bits ^= (bits.y & 0x80000000u) != 0u ? uvec2(0xffffffffu) : uvec2(0u, 0x80000000u);
    return minus(bits, uvec2(0xffffffffu, 0xfffffu));
}

uvec2 common_key(uvec2 key, int type) {
#if defined(AS_DOUBLES)
    return double_key(key, type);
#elif defined(AS_INTEGERS)
    return integer(key, type);
#else
    return key;
#endif
}

// Whether a common key is not a NaN.
bool is_number(uvec2 key) {
#ifdef AS_INTEGERS
    return true;
#else
    return !less(most_number, key);
#endif
}
