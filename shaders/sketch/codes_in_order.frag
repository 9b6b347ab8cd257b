// Copies sorted codes from the merge engine's layout to rows of texels, in which searching needs less arithmetic.
//     texture0   in the layout of banked.glsl or tiles.glsl
uniform highp usampler2DArray texture0;
uniform int count;
uniform int codes_log2;
out uvec4 codes;

void main() {
    int first = 4 * (int(gl_FragCoord.y) << codes_log2 | int(gl_FragCoord.x));
    uvec4 found;
    for (int c = 0; c < 4; ++c) found[c] = sorted_key(texture0, min(first + c, count - 1));
    bvec4 is_one = lessThan(first + ivec4(0, 1, 2, 3), ivec4(count));
    codes = found | (uvec4(is_one) - 1u);
}
