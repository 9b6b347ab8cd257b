// Sorted keys (banked.glsl or tiles.glsl), one per texel, row after row, or several CHANNELS of them per texel. Keys of
// 64 bits are two texels, of a word each.
//     texture0   the keys
uniform highp usampler2DArray texture0;
uniform int target_width;
out uvec4 texel;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
#if WORDS == 1
    uvec4 keys = uvec4(0u);
    for (int c = 0; c < CHANNELS; ++c) keys[c] = sorted_key(texture0, i * CHANNELS + c);
    texel = keys;
#else
    KEY key = sorted_key(texture0, i >> 1);
    texel = uvec4((i & 1) == 0 ? key.x : key.y);
#endif
}
