// The cell of each row: the number of cuts of x that are at most its key and, with TWO, the same for y. Cells are
// numbered line after line. Rows with NULL get the number after the last cell.
// The cuts are trees (CutTree in cuts.hpp): 16 keys in uniforms, then nodes of four keys, which a fragment reads as one
// texel or, of 64-bit keys, as two. So a row's search reads three or four texels of 2,048 to 8,192 cuts.
// Needs keys.glsl and selection.glsl before it.
uniform highp usampler2D texture0;  // keys of x
uniform highp usampler2D texture1;  // one bit per row: whether it has a value
uniform highp usampler2D texture2;  // nodes of x, 1024 texels per line
uniform highp usampler2D texture3;  // the same for y
uniform highp usampler2D texture4;
uniform highp usampler2D texture5;
uniform int rows;
uniform int target_width;
uniform ivec2 cells;     // across, and lines; one more than cuts
uniform ivec2 levels;    // of nodes
uniform uvec4 tops[16];  // the 16 keys above the nodes, (low, high) of two each: of x in 0 to 7, of y in 8 to 15
out uint cell;

int is_at_most(uvec2 cut, uvec2 key, int wide) {
    return (wide == 1 ? !less(key, cut) : cut.x <= key.x) ? 1 : 0;
}

uvec4 texel_of_list(highp usampler2D list, int i) { return texelFetch(list, ivec2(i & 1023, i >> 10), 0); }

// Counts the keys of a node, which has four, that are at most `key`.
int count_in(highp usampler2D nodes, int node, int wide, uvec2 key) {
    if (wide == 1) {
        uvec4 first = texel_of_list(nodes, 2 * node);
        uvec4 second = texel_of_list(nodes, 2 * node + 1);
        return is_at_most(first.xy, key, 1) + is_at_most(first.zw, key, 1) + is_at_most(second.xy, key, 1) +
               is_at_most(second.zw, key, 1);
    }
    uvec4 four = texel_of_list(nodes, node);
    return is_at_most(four.xx, key, 0) + is_at_most(four.yy, key, 0) + is_at_most(four.zz, key, 0) +
           is_at_most(four.ww, key, 0);
}

// The number of cuts that are at most the key. `top` is the first of its uniforms.
int place_of(highp usampler2D nodes, int top, int depth, int cuts, int wide, uvec2 key) {
    int node = 0;
    for (int i = 0; i < 8; ++i)
        node += is_at_most(tops[top + i].xy, key, wide) + is_at_most(tops[top + i].zw, key, wide);
    int first = 0;  // node of the level
    int count = 17;
    for (int level = 0; level < depth; ++level) {
        node = 5 * node + count_in(nodes, first + node, wide, key);
        first += count;
        count *= 5;
    }
    return min(node, cuts);  // keys after the last cut may be equal to the key
}

void main() {
    int row = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    cell = uint(cells.x * cells.y);
    if (row >= rows) return;
    ivec2 pixel = ivec2(row % (32 * WORDS), row / (32 * WORDS));
    if (!is_set(texture1, pixel)) return;
    int x = place_of(texture2, 0, levels.x, cells.x - 1, WIDE_X, key_of_row(texture0, WIDE_X, pixel));
#ifdef TWO
    if (!is_set(texture4, pixel)) return;
    int y = place_of(texture5, 8, levels.y, cells.y - 1, WIDE_Y, key_of_row(texture3, WIDE_Y, pixel));
    cell = uint(y * cells.x + x);
#else
    cell = uint(x);
#endif
}
