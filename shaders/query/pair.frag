// Compares two columns, a op b, over 32 rows. TYPE_A, TYPE_B: types of values.glsl. WIDE_A, WIDE_B: 1 for 64 bits.
// `wanted`: the relations for which a row is selected: bit 0 less, 1 equal, 2 greater, 3 unordered (a NaN). Needs
// keys.glsl, values.glsl and pair.glsl before it.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform highp usampler2D texture2;  // rows that have both values
uniform uint wanted;
out uint bits;

uint relation(uvec2 a, uvec2 b) {
    a = common_key(a, TYPE_A);
    b = common_key(b, TYPE_B);
    if (!is_number(a) || !is_number(b)) return is_unordered;
    return less(a, b) ? is_less : less(b, a) ? is_greater : is_equal;
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
