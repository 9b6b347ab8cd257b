// Puts sorted keys (banked.glsl or tiles.glsl) between the other content of a buffer: texel i, row after row, becomes
// texel i of a part of the buffer, in which a key of KEY_WORDS texels begins every `stride` texels.
//     texture0   the keys
//     texture1   the buffer's texels
uniform highp usampler2DArray texture0;
uniform highp usampler2D texture1;
uniform int first_key;
uniform int stride;
uniform int target_width;
out uint texel;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    int word = i % stride;
    if (word < KEY_WORDS) {
#if KEY_WORDS == 1
        texel = sorted_key(texture0, first_key + i / stride);
#else
        texel = sorted_key(texture0, first_key + i / stride)[word];
#endif
    } else {
        int width = textureSize(texture1, 0).x;
        texel = texelFetch(texture1, ivec2(i % width, i / width), 0).x;
    }
}
