// Nested loops (Algorithm 2 of MDS'09): which keys of 32 rows of the right side are in the ranges of four left rows,
// one word for each left row. Four left rows take `lines` lines of the target, as many as the right keys have:
//     line of the target   |  0  ..  lines - 1   |  lines  ..  2 lines - 1   | ...
//     left rows            |  0, 1, 2, 3         |  4, 5, 6, 7               | ...
//     line of the keys     |  0  ..  lines - 1   |  0  ..  lines - 1         | ...
// Needs keys.glsl before it.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // ranges, left row r at (r mod 4, r div 4): low and high - low, 64 bits each
uniform int lines;
uniform int count;  // number of keys
out uvec4 bits;

#ifdef WIDE
#define LOW(range) range.xy
#define SPAN(range) range.zw
#else
#define LOW(range) range.x
#define SPAN(range) range.z
#endif

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int group = at.y / lines;
    ivec2 word = ivec2(at.x, at.y - group * lines);
    int keys = count - 32 * (word.y * WORDS + word.x);
    bits = uvec4(0u);
    if (keys <= 0) return;
    uvec4 found = bits;  // OpenGL ES indexes outputs by constants only
    KEY low[4];
    KEY span[4];
    for (int r = 0; r < 4; ++r) {
        uvec4 range = texelFetch(texture1, ivec2(r, group), 0);
        low[r] = LOW(range);
        span[r] = SPAN(range);
    }
    for (int i = 0; i < TEXELS; ++i) {
        uvec4 texel = texel_of(texture0, word, i);
        for (int row = 0; row < ROWS; ++row) {
            KEY key = key_of(texel, row);
            uint bit = 1u << (ROWS * i + row);
            for (int r = 0; r < 4; ++r) found[r] |= less(span[r], minus(key, low[r])) ? 0u : bit;
        }
    }
    bits = keys < 32 ? found & ((1u << keys) - 1u) : found;
}
