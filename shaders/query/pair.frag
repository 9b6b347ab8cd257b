// Compares two columns, a op b, over 32 rows. TYPE_A, TYPE_B: types of values.glsl; WIDE_A, WIDE_B: 1 for 64 bits.
// AS_KEYS compares keys of one type, where NaNs are above `most_number`; AS_INTEGERS 64-bit integers, AS_DOUBLES doubles,
// both by their keys. `wanted`: the relations for which a row is selected: bit 0 less, 1 equal, 2 greater, 3 neither (a
// NaN). After keys.glsl, values.glsl.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform highp usampler2D texture2;  // rows that have both values
uniform uint wanted;
uniform uvec2 most_number;
out uint bits;

// As the key of a 64-bit integer.
uvec2 integer(uvec2 key, int type) {
    if (type == I64) return key;
    if (type == U32) return uvec2(key.x, 0x80000000u);
    uint value = key.x ^ 0x80000000u;
    return uvec2(value, (value & 0x80000000u) != 0u ? 0x7fffffffu : 0x80000000u);
}

// As the key of a double. Comparing doubles themselves would not do: a driver may take denormals for 0.
uvec2 double_key(uvec2 key, int type) {
    if (type == F64) return key;
    uvec2 bits = unpackDouble2x32(type == I64 ? to_double(key, type) : to_double(key.x, type));
    bits ^= (bits.y & 0x80000000u) != 0u ? uvec2(0xffffffffu) : uvec2(0u, 0x80000000u);
    return minus(bits, uvec2(0xffffffffu, 0xfffffu));
}

uint relation(uvec2 a, uvec2 b) {
#ifdef AS_DOUBLES
    a = double_key(a, TYPE_A);
    b = double_key(b, TYPE_B);
#endif
#ifdef AS_INTEGERS
    a = integer(a, TYPE_A);
    b = integer(b, TYPE_B);
#else
    if (less(most_number, a) || less(most_number, b)) return 8u;
#endif
    return less(a, b) ? 1u : less(b, a) ? 4u : 2u;
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint word = 0u;
    for (int group = 0; group < 8; ++group) {
        uvec2 a[4];
        uvec2 b[4];
        four_keys(texture0, WIDE_A, at, group, a);
        four_keys(texture1, WIDE_B, at, group, b);
        for (int i = 0; i < 4; ++i) word |= (relation(a[i], b[i]) & wanted) != 0u ? 1u << (4 * group + i) : 0u;
    }
    bits = word & texelFetch(texture2, at, 0).x;
}
