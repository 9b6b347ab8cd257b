// Puts sorted keys (banked.glsl or tiles.glsl) between the other content of a buffer: texel i, row after row, becomes
// texel i of a part of the buffer, in which a key of KEY_WORDS texels begins every `stride` texels.
//     texture0   the keys
//     texture1   the buffer's texels
//     texture2   with COUNTED, the number of keys; texels beyond them stay as they are
#ifdef COUNTED
uniform highp usampler2D texture2;
#endif
uniform highp usampler2DArray texture0;
uniform highp usampler2D texture1;
uniform int first_key;
uniform int stride;
uniform int target_width;
out uint texel;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    int word = i % stride;
    bool is_key = word < KEY_WORDS;
#ifdef COUNTED
    is_key = is_key && uint(first_key + i / stride) < texelFetch(texture2, ivec2(0), 0).x;
#endif
    if (is_key) {
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
