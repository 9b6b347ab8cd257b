// Tests rows of a rectangle's edge. The edge is up to four blocks of cells; its rows are numbered block after block,
// and line after line in each. In the order of the index, the rows of a line of a block are consecutive.
//     sums       |  .  .  .  .  |   texel (x, y): rows of all cells left of x in the lines below y
//                |  . a#######b |   block (a.x, a.y, b.x, b.y): the rows of its lines below y are
//     cells      |  .  .  .  .  |   sum(b.x, y) - sum(a.x, y), minus the same at a.y
// A fragment tests one row, and the occlusion query counts those that it keeps. With FOLDED, a fragment counts every
// FOLDED-th row. LISTED: the index has the numbers of rows, not their keys. Needs keys.glsl before it.
uniform highp usampler2D texture0;  // rows in the order of cells
uniform highp usampler2D texture1;  // sums
uniform highp usampler2D texture2;  // LISTED: keys of x
uniform highp usampler2D texture3;  // LISTED: keys of y
uniform int across;                 // cells of a line
uniform ivec4 blocks[4];
uniform uvec4 ends;     // rows of the first block, of the first two, ...
uniform uvec4 x_range;  // low and high - low, 64 bits each
uniform uvec4 y_range;
uniform int rows_log2;  // log2 of the width of texture0
#ifdef FOLDED
out uvec4 counts;
#else
uniform uint first;  // of the pass
#endif

uint sum_at(int x, int y) { return texelFetch(texture1, ivec2(x, y), 0).x; }
uint below(ivec4 block, int y) { return sum_at(block.z, y) - sum_at(block.x, y); }

// Where the k-th row of a block is in the order of cells.
uint place_of(ivec4 block, uint k) {
    k += below(block, block.y);
    int low = block.y;
    int high = block.w;
    while (high - low > 1) {
        int middle = (low + high) >> 1;
        if (below(block, middle) <= k) {
            low = middle;
        } else {
            high = middle;
        }
    }
    uint line = sum_at(across, low);
    return line + sum_at(block.x, low + 1) - sum_at(block.x, low) + (k - below(block, low));
}

bool within(uvec2 key, uvec4 range) { return !less(range.zw, minus(key, range.xy)); }

bool holds(uint k) {
    uint i = k < ends.x   ? place_of(blocks[0], k)
             : k < ends.y ? place_of(blocks[1], k - ends.x)
             : k < ends.z ? place_of(blocks[2], k - ends.y)
                          : place_of(blocks[3], k - ends.z);
    uvec2 row = texelFetch(texture0, ivec2(int(i & ((1u << rows_log2) - 1u)), int(i >> rows_log2)), 0).xy;
#ifdef LISTED
    ivec2 pixel = ivec2(int(row.x) % (32 * WORDS), int(row.x) / (32 * WORDS));
    uvec2 x = key_of_row(texture2, WIDE_X, pixel);
#else
    uvec2 x = uvec2(row.x, 0u);
#endif
    bool is_in = within(x, x_range);
#ifdef TWO
#ifdef LISTED
    uvec2 y = key_of_row(texture3, WIDE_Y, pixel);
#else
    uvec2 y = uvec2(row.y, 0u);
#endif
    is_in = is_in && within(y, y_range);
#endif
    return is_in;
}

void main() {
    uint k = uint(gl_FragCoord.y) * 1024u + uint(gl_FragCoord.x);
#ifdef FOLDED
    counts = uvec4(0u);
    for (; k < ends.w; k += uint(FOLDED)) counts.x += holds(k) ? 1u : 0u;
#else
    k += first;
    if (k >= ends.w || !holds(k)) discard;
#endif
}
