// Tests rows of a rectangle's edge. The edge is up to four blocks of cells; its rows are numbered block after block. A
// fragment tests one row, and the occlusion query counts those that it keeps. With FOLDED, a fragment counts every
// FOLDED-th row. Needs keys.glsl and index_cells.glsl before it.
uniform highp usampler2D texture2;  // keys of x
uniform highp usampler2D texture3;  // keys of y
uniform ivec4 blocks[4];
uniform uvec4 ends;     // rows of the first block, of the first two, ...
uniform uvec4 x_range;  // low and high - low, 64 bits each
uniform uvec4 y_range;
#ifdef FOLDED
out uvec4 counts;
#else
uniform uint first;  // of the pass
#endif

bool within(uvec2 key, uvec4 range) { return !less(range.zw, minus(key, range.xy)); }

bool holds(uint k) {
    int row = k < ends.x   ? row_of(blocks[0], k)
              : k < ends.y ? row_of(blocks[1], k - ends.x)
              : k < ends.z ? row_of(blocks[2], k - ends.y)
                           : row_of(blocks[3], k - ends.z);
    ivec2 pixel = ivec2(row % (32 * WORDS), row / (32 * WORDS));
    bool is_in = within(key_of_row(texture2, WIDE_X, pixel), x_range);
#ifdef TWO
    is_in = is_in && within(key_of_row(texture3, WIDE_Y, pixel), y_range);
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
