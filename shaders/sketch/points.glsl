// Points on texels that are numbered row after row, in rows of 2^target_log2.
uniform vec2 target_scale;  // 2 / the size of the target
uniform int target_log2;

vec4 centre_of(uint texel) {
    vec2 at = vec2(float(texel & ((1u << target_log2) - 1u)), float(texel >> target_log2)) + 0.5;
    return vec4(at * target_scale - 1.0, 0.0, 1.0);
}
