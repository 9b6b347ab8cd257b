// Sorted keys (banked.glsl or tiles.glsl), one per texel, row after row, or several CHANNELS of them per texel.
//     texture0   the keys
uniform highp usampler2DArray texture0;
uniform int target_width;
out uvec4 texel;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    uvec4 keys = uvec4(0u);
    for (int c = 0; c < CHANNELS; ++c) keys[c] = sorted_key(texture0, i * CHANNELS + c);
    texel = keys;
}
