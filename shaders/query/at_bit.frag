// Keeps the fragments of rows for which key - base has that bit, for an occlusion query to count. Needs keys.glsl and
// depth.glsl before it.
uniform highp usampler2D texture0;  // keys
uniform KEY base;
uniform int shift;

void main() {
    if (digit_of(key_at(texture0, ivec2(gl_FragCoord.xy)), base, shift, 1u) == 0u) discard;
}
