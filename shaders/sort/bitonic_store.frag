// Copies the keys of all windows back to memory, without the padding. STORE_INDEX: their indices instead.
//     texture0   planes       target   memory, in rows of 2^memory_log2 texels; OF_TEXTURES: one index per texel, in
//                                      rows of memory_width
#ifdef STORE_INDEX
#define TEXEL_KEYS 4
#else
#define TEXEL_KEYS (4 / SOURCE_WORDS)
#endif
uniform highp usampler2DArray texture0;
#ifdef OF_TEXTURES
uniform int memory_width;
out uint stored;
#else
uniform int memory_log2;
out uvec4 words;
#endif

uint word(ivec3 place, int p) {
    return texelFetch(texture0, ivec3(place.xy, p), 0)[place.z];
}

#ifdef OF_TEXTURES
void main() {
    stored = word(place_of(int(gl_FragCoord.y) * memory_width + int(gl_FragCoord.x)), PLANES - 1);
}
#else
void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    int first = (here.y << memory_log2 | here.x) * TEXEL_KEYS;
    uvec4 v = uvec4(0u);
    for (int c = 0; c < TEXEL_KEYS; ++c) {
        int key = min(first + c, count - 1);
        int which = key / window;
        ivec3 place = place_of(which << window_log2 | (key - which * window));
#ifdef STORE_INDEX
        v[c] = word(place, PLANES - 1);
#elif SOURCE_WORDS == 1
        v[c] = decode(word(place, 0));
#else
        uvec2 bits = decode(uvec2(word(place, 1), word(place, 0)));
        v[2 * c] = bits.x;
        v[2 * c + 1] = bits.y;
#endif
    }
    words = v;
}
#endif
