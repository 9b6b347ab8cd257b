// a op b: meets each row of a, in the depth buffer, at the depth of the row of b. After keys.glsl, depth.glsl.
uniform highp usampler2D texture0;  // keys of b
uniform highp usampler2D texture1;  // rows that have both values
uniform KEY base;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    if (!is_set(texture1, pixel)) discard;
    gl_FragDepth = depth_of(digit_of(key_at(texture0, pixel), base, 0, 0xffffffffu));
}
