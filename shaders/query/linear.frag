// Semi-linear: the sum of factor * column over TERMS columns, in order, in doubles, compared with `constant` over 32
// rows. TYPES, WIDES: lists of the columns' types of values.glsl, and of 1 for 64 bits; SAMPLERS their textures from
// texture1 on. `wanted` as in pair.frag. After keys.glsl,
// values.glsl.
uniform highp usampler2D texture0;  // rows that have all values
uniform uint wanted;
uniform double constant;
uniform double factors[TERMS];
out uint bits;

precise double sums[4];

void add(highp usampler2D column, int type, int wide, ivec2 at, int group, double factor) {
    uvec2 keys[4];
    four_keys(column, wide, at, group, keys);
    for (int i = 0; i < 4; ++i) {
        precise double product = factor * (wide == 1 ? to_double(keys[i], type) : to_double(keys[i].x, type));
        sums[i] += product;
    }
}

SAMPLERS

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint word = 0u;
    for (int group = 0; group < 8; ++group) {
        for (int i = 0; i < 4; ++i) sums[i] = 0.0lf;
        ADD_ALL
        for (int i = 0; i < 4; ++i) {
            uint found = sums[i] < constant ? 1u : sums[i] > constant ? 4u : sums[i] == constant ? 2u : 8u;
            word |= (found & wanted) != 0u ? 1u << (4 * group + i) : 0u;
        }
    }
    bits = word & texelFetch(texture0, at, 0).x;
}
