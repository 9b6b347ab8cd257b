// Layout of columns and selections in textures. A word of a selection is 32 rows; a line has WORDS of them. The word at
// (x, y) corresponds to 8 texels of a column of 32-bit keys, four rows each, or to 16 texels of a column of 64-bit
// keys, (low, high) of two rows each. Its i-th texel is at (i WORDS + x, y), so that neighbouring fragments read
// neighbouring texels:
//     word      |  0   1   2  ..  WORDS - 1 |
//     column    |  rows 0-3, 32-35, 64-67, ...  | rows 4-7, 36-39, ...  | ...
#ifdef WIDE
#define TEXELS 16
#define ROWS 2
#define KEY uvec2
KEY key_of(uvec4 texel, int row) { return row == 0 ? texel.xy : texel.zw; }
#else
#define TEXELS 8
#define ROWS 4
#define KEY uint
KEY key_of(uvec4 texel, int row) { return row == 0 ? texel.x : row == 1 ? texel.y : row == 2 ? texel.z : texel.w; }
#endif

uvec4 texel_of(highp usampler2D keys, ivec2 word, int i) { return texelFetch(keys, ivec2(i * WORDS + word.x, word.y), 0); }

// Keys of rows [4 group, 4 group + 4) of a word, for a column of either width. For 32 bits the high word is 0.
void four_keys(highp usampler2D keys, int wide, ivec2 word, int group, out uvec2 four[4]) {
    if (wide == 1) {
        uvec4 first = texel_of(keys, word, 2 * group);
        uvec4 second = texel_of(keys, word, 2 * group + 1);
        four[0] = first.xy;
        four[1] = first.zw;
        four[2] = second.xy;
        four[3] = second.zw;
    } else {
        uvec4 texel = texel_of(keys, word, group);
        for (int i = 0; i < 4; ++i) four[i] = uvec2(texel[i], 0u);
    }
}

// The key of the row at a pixel (row of the line, line).
uvec2 key_of_row(highp usampler2D keys, int wide, ivec2 pixel) {
    ivec2 word = ivec2(pixel.x >> 5, pixel.y);
    int row = pixel.x & 31;
    if (wide == 1) {
        uvec4 two = texel_of(keys, word, row >> 1);
        return (row & 1) == 0 ? two.xy : two.zw;
    }
    uvec4 four = texel_of(keys, word, row >> 2);
    return uvec2((row & 3) == 0 ? four.x : (row & 3) == 1 ? four.y : (row & 3) == 2 ? four.z : four.w, 0u);
}

// Relations of a key or number to another. A set of them is the sum of its bits (src/query/plan/expression.hpp).
const uint is_less = 1u, is_equal = 2u, is_greater = 4u, is_unordered = 8u;

bool less(uint a, uint b) { return a < b; }
bool less(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

uint minus(uint a, uint b) { return a - b; }
uvec2 minus(uvec2 a, uvec2 b) { return uvec2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1u : 0u)); }
