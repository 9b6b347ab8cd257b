// Takes the places out of sorted keys of two words (banked.glsl), whose low word they are: texel i, row after row,
// becomes that of the i-th key.
//     texture0   keys, banked
uniform highp usampler2DArray texture0;
uniform int target_width;
out uint place;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    int within = i & (KEYS - 1);
    uvec4 texel = texelFetch(texture0, ivec3(place_of(i >> LOG2_KEYS), within / TEXEL_KEYS), 0);
    place = key_in(texel, within % TEXEL_KEYS).x;
}
