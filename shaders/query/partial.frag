// An aggregate of the selected rows among 128. TYPE is as in values.glsl. Needs keys.glsl, values.glsl and fold.glsl
// before it.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // selection
#ifdef COUNTS
// Among keys that agree with a prefix above bit `shift` + 2, counts those with 0, 1, 2, 3 in the two bits from `shift`
// on.
uniform highp usampler2D texture2;  // the prefix, at (0, 0)
uniform int shift;

bool agree(uint key, uint prefix, int from) { return from > 31 || ((key ^ prefix) >> from) == 0u; }
bool agree(uint key, uint prefix) { return agree(key, prefix, shift + 2); }
bool agree(uvec2 key, uvec2 prefix) {
    if (shift >= 30) return agree(key.y, prefix.y, shift - 30);
    return key.y == prefix.y && agree(key.x, prefix.x, shift + 2);
}
uint digit(uint key) { return (key >> shift) & 3u; }
uint digit(uvec2 key) { return (shift >= 32 ? key.y >> (shift - 32) : key.x >> shift) & 3u; }
#endif
out uvec4 result;

#ifdef EXTREMES
uvec4 of_key(uint key) { return uvec4(key, 0u, key, 0u); }
uvec4 of_key(uvec2 key) { return key.xyxy; }
#endif
#ifdef INTEGERS
uvec4 of_key(uint key) { return uvec4(key, 0u, 0u, 0u); }
uvec4 of_key(uvec2 key) { return uvec4(key, 0u, 0u); }
#endif
#ifdef DOUBLES
uvec4 of_key(KEY key) { return uvec4(to_double(key, TYPE), 0u, 0u); }
#endif

#ifndef COUNTS
uvec4 of_row(uvec4 texel, int row, uint word, int bit) {
    return (word >> bit & 1u) != 0u ? of_key(key_of(texel, row)) : nothing;
}
uvec4 of_texel(uvec4 texel, uint word, int bit) {
#ifdef WIDE
    return both(of_row(texel, 0, word, bit), of_row(texel, 1, word, bit + 1));
#else
    return four(of_row(texel, 0, word, bit), of_row(texel, 1, word, bit + 1), of_row(texel, 2, word, bit + 2),
                of_row(texel, 3, word, bit + 3));
#endif
}
#endif

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
#ifdef COUNTS
    uvec4 state = texelFetch(texture2, ivec2(0), 0);
#ifdef WIDE
    uvec2 prefix = state.xy;
#else
    uint prefix = state.x;
#endif
    uint counts = 0u;  // four counts of 8 bits
#else
    uvec4 all = nothing;
#endif
    for (int w = 0; w < 4; ++w) {
        ivec2 from = ivec2(at.x + w * (WORDS / 4), at.y);
        uint word = texelFetch(texture1, from, 0).x;
        if (word == 0u) continue;
#ifdef COUNTS
        for (int i = 0; i < TEXELS; ++i) {
            uvec4 texel = texel_of(texture0, from, i);
            for (int row = 0; row < ROWS; ++row) {
                KEY key = key_of(texel, row);
                bool counted = (word >> (ROWS * i + row) & 1u) != 0u && agree(key, prefix);
                counts += counted ? 1u << (8u * digit(key)) : 0u;
            }
        }
#else
        for (int i = 0; i < TEXELS; i += 4) {
            uvec4 t[4];
            for (int j = 0; j < 4; ++j)
                t[j] = of_texel(texel_of(texture0, from, i + j), word, ROWS * (i + j));
            all = both(all, four(t[0], t[1], t[2], t[3]));
        }
#endif
    }
#ifdef COUNTS
    result = uvec4(counts & 0xffu, counts >> 8 & 0xffu, counts >> 16 & 0xffu, counts >> 24);
#else
    result = all;
#endif
}
