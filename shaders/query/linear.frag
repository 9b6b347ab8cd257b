// Semi-linear: the sum of factor * column over TERMS columns, in order, in doubles, compared with `constant` over 32
// rows. TYPES, WIDES: lists of the columns' types of values.glsl, and of 1 for 64 bits; SAMPLERS their textures from
// texture1 on. `wanted` as in pair.frag. After values.glsl.
uniform highp usampler2D texture0;  // rows that have all values
uniform uint wanted;
uniform double constant;
uniform double factors[TERMS];
out uint bits;

precise double sum;

void add(highp usampler2D column, int type, int wide, ivec2 at, int row, double factor) {
    double value;
    if (wide == 1) {
        uvec4 pair = texelFetch(column, ivec2(16 * at.x + (row >> 1), at.y), 0);
        value = to_double((row & 1) == 0 ? pair.xy : pair.zw, type);
    } else {
        uvec4 four = texelFetch(column, ivec2(8 * at.x + (row >> 2), at.y), 0);
        int i = row & 3;
        value = to_double(i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w, type);
    }
    precise double product = factor * value;
    sum += product;
}

SAMPLERS

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint word = 0u;
    for (int row = 0; row < 32; ++row) {
        sum = 0.0lf;
        ADD_ALL
        uint found = sum < constant ? 1u : sum > constant ? 4u : sum == constant ? 2u : 8u;
        word |= (found & wanted) != 0u ? 1u << row : 0u;
    }
    bits = word & texelFetch(texture0, at, 0).x;
}
