// Converts keys from the layout of memory to planes of unsigned numbers, with the highest word in plane 0. INDEXED: the
// last plane has the index of the key, so that no two keys are equal and padding follows all keys.
//     texture0   memory, texel after texel in rows of 2^memory_log2 texels; OF_TEXTURES: one key per texel, in rows
//                of memory_width
#define TEXEL_KEYS (4 / SOURCE_WORDS)
uniform highp usampler2D texture0;
#ifdef OF_TEXTURES
uniform int memory_width;
#else
uniform int memory_log2;
#endif

uvec4 words_of(int key) {
#ifdef OF_TEXTURES
    return texelFetch(texture0, ivec2(key % memory_width, key / memory_width), 0).xxxx;
#else
    int t = key / TEXEL_KEYS;
    return texelFetch(texture0, ivec2(t & ((1 << memory_log2) - 1), t >> memory_log2), 0);
#endif
}

layout(location = 0) out uvec4 plane[PLANES];

void main() {
    uvec4 v[PLANES];
    for (int c = 0; c < 4; ++c) {
        int e = element_at(ivec2(gl_FragCoord.xy), c);
        int within = e & ((1 << window_log2) - 1);
        int key = (e >> window_log2) * window + within;
        bool padding = within >= window || key >= count;
        uvec4 words = words_of(padding ? 0 : key);
#if SOURCE_WORDS == 1
        v[0][c] = padding ? ones : encode(words[key & 3]);
#else
        uvec2 bits = encode((key & 1) == 0 ? words.xy : words.zw);
        v[0][c] = padding ? ones : bits.y;
        v[1][c] = padding ? ones : bits.x;
#endif
#ifdef INDEXED
        v[PLANES - 1][c] = uint(e);
#endif
    }
    WRITE_PLANES(plane, v)
}
