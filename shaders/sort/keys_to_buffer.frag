// Sorted keys (banked.glsl or tiles.glsl) among what else a buffer holds: texel i, row after row, becomes texel
// `first_texel` + i of the buffer, in which a key of KEY_WORDS texels begins every `stride` texels.
//     texture0   the keys
//     texture7   the buffer's texels
uniform highp usampler2DArray texture0;
uniform highp usamplerBuffer texture7;
uniform int first_texel;
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
        texel = texelFetch(texture7, first_texel + i).x;
    }
}
