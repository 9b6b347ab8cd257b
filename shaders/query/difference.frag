// 'Query Processing on GPUs': a op b is (a - b) op 0. Copies the difference of two columns to the depth buffer, as a
// code less than, equal to or greater than `zero`. It is the exact difference of the keys, limited to `reach` on either
// side. TYPE_A, TYPE_B, WIDE_A, WIDE_B are as in pair.frag. Needs keys.glsl, values.glsl, pair.glsl and depth.glsl
// before it.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform highp usampler2D texture2;  // rows that have both values
uniform uint zero;
uniform uint reach;
uniform uint null_code;
uniform uint nan_code;

uint between(uvec2 low, uvec2 high) {
    uvec2 difference = minus(high, low);
    return difference.y != 0u || difference.x > reach ? reach : difference.x;
}

uint code_of(uvec2 a, uvec2 b) {
    if (!is_number(a) || !is_number(b)) return nan_code;
    return less(a, b) ? zero - between(a, b) : zero + between(b, a);
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uint code = code_of(common_key(key_of_row(texture0, WIDE_A, pixel), TYPE_A),
                        common_key(key_of_row(texture1, WIDE_B, pixel), TYPE_B));
    gl_FragDepth = depth_of(is_set(texture2, pixel) ? code : null_code);
}
