// Compares two columns, a op b, over 32 rows. TYPE_A, TYPE_B: types of values.glsl; WIDE_A, WIDE_B: 1 for 64 bits.
// AS_KEYS compares keys of one type, where NaNs are above `most_number`; AS_INTEGERS 64-bit integers, AS_DOUBLES doubles.
// `wanted`: bit 0 of a word's ok: less, 1 equal, 2 greater, 3 neither (a NaN). After keys.glsl,
// values.glsl.
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

uint relation(uvec2 a, uvec2 b) {
#ifdef AS_DOUBLES
    double x = TYPE_A == F64 || TYPE_A == I64 ? to_double(a, TYPE_A) : to_double(a.x, TYPE_A);
    double y = TYPE_B == F64 || TYPE_B == I64 ? to_double(b, TYPE_B) : to_double(b.x, TYPE_B);
    return x < y ? 1u : x > y ? 4u : x == y ? 2u : 8u;
#else
#ifdef AS_INTEGERS
    a = integer(a, TYPE_A);
    b = integer(b, TYPE_B);
#else
    if (less(most_number, a) || less(most_number, b)) return 8u;
#endif
    return less(a, b) ? 1u : less(b, a) ? 4u : 2u;
#endif
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
