// Semi-linear: the sum of factor * column over TERMS columns, in order, in doubles, compared with `constant` over 32
// rows. SAMPLERS: the columns' textures, from texture1 on; ADD_ALL: a call of add_column() for each, with its type of
// values.glsl and 1 for 64 bits. `wanted` as in pair.frag. After keys.glsl, values.glsl.
uniform highp usampler2D texture0;  // rows that have all values
uniform uint wanted;
uniform uvec2 constant;  // a double's bits
uniform uvec2 factors[TERMS];
out uint bits;

// The sum of a row as the bits of a double: NVIDIA keeps arrays of doubles as floats. Each product and each sum is
// rounded: with a precise variable for each, no driver fuses the two.
uvec2 add(uvec2 sum_bits, uvec2 key, int type, int wide, uvec2 factor) {
    double value;
    if (wide == 1) {
        value = to_double(key, type);
    } else {
        value = to_double(key.x, type);
    }
    precise double product = packDouble2x32(factor) * value;
    precise double sum = packDouble2x32(sum_bits) + product;
    return unpackDouble2x32(sum);
}

void add_column(inout uvec2 sums[4], highp usampler2D column, int type, int wide, ivec2 at, int group, uvec2 factor) {
    uvec2 keys[4];
    four_keys(column, wide, at, group, keys);
    for (int i = 0; i < 4; ++i) sums[i] = add(sums[i], keys[i], type, wide, factor);
}

SAMPLERS

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    double limit = packDouble2x32(constant);
    uint word = 0u;
    for (int group = 0; group < 8; ++group) {
        uvec2 sums[4] = uvec2[4](uvec2(0u), uvec2(0u), uvec2(0u), uvec2(0u));
        ADD_ALL
        for (int i = 0; i < 4; ++i) {
            double sum = packDouble2x32(sums[i]);
            uint found = sum < limit ? 1u : sum > limit ? 4u : sum == limit ? 2u : 8u;
            word |= (found & wanted) != 0u ? 1u << (4 * group + i) : 0u;
        }
    }
    bits = word & texelFetch(texture0, at, 0).x;
}
