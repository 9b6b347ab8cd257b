// Counts the selected keys in each of four bins: fragment (x, g) counts in the bins of texels 4 g to 4 g + 3, over every
// `width`-th word from word x on. A fold along the rows adds up the fragments. Needs keys.glsl before it.
//
//     fragment  |  (0, g)                     |  (1, g)                     | ..
//     words     |  0, width, 2 width, ..      |  1, width + 1, ..           |
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // selection
uniform highp usampler2D texture2;  // bins, a texel each: (low, span), two words each
uniform int words;
uniform int width;
uniform int bins_width;  // texels per line of texture2
out uvec4 counts;

void main() {
    KEY low[4];
    KEY span[4];
    for (int j = 0; j < 4; ++j) {
        int i = 4 * int(gl_FragCoord.y) + j;
        uvec4 bin = texelFetch(texture2, ivec2(i % bins_width, i / bins_width), 0);
#ifdef WIDE
        low[j] = bin.xy;
        span[j] = bin.zw;
#else
        low[j] = bin.x;
        span[j] = bin.z;
#endif
    }
    counts = uvec4(0u);
    for (int w = int(gl_FragCoord.x); w < words; w += width) {
        ivec2 at = ivec2(w % WORDS, w / WORDS);
        uint word = texelFetch(texture1, at, 0).x;
        if (word == 0u) continue;
        for (int i = 0; i < TEXELS; ++i) {
            uvec4 texel = texel_of(texture0, at, i);
            for (int row = 0; row < ROWS; ++row) {
                KEY key = key_of(texel, row);
                uint selected = word >> (ROWS * i + row) & 1u;
                counts += selected * uvec4(not(bvec4(less(span[0], minus(key, low[0])), less(span[1], minus(key, low[1])),
                                                     less(span[2], minus(key, low[2])), less(span[3], minus(key, low[3])))));
            }
        }
    }
}
