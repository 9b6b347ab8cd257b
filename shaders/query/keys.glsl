// How columns and selections lie in textures: a word of a selection is 32 rows, and the word at (x, y) meets 8 texels of
// a column of 32-bit keys, four rows each, from (8 x, y) on, or 16 texels of one of 64-bit keys, (low, high) of two rows
// each, from (16 x, y) on:
//     word      |            x              |           x + 1           |
//     column    | 8x  8x+1  ...      8x + 7 | 8x+8  ...                 |
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

bool less(uint a, uint b) { return a < b; }
bool less(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

uint minus(uint a, uint b) { return a - b; }
uvec2 minus(uvec2 a, uvec2 b) { return uvec2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1u : 0u)); }
