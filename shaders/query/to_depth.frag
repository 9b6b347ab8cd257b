// Copies a plane of a column to the depth buffer: the bits `mask` of (key - base) >> shift, or `null_code` for a row
// without a value. Needs keys.glsl and depth.glsl before it.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // rows that have a value
uniform KEY base;
uniform int shift;
uniform uint mask;
uniform uint null_code;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uint code = digit_of(key_at(texture0, pixel), base, shift, mask);
    gl_FragDepth = depth_of(is_set(texture1, pixel) ? code : null_code);
}
