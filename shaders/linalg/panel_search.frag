// Searches a column of a panel for the next pivot. The known pivots have not been eliminated yet: each fragment does
// that itself for its rows, which are every parts-th row. So a column costs one pass, with one texel per row.
//     target   0 .. parts - 1: (key, row) for the rule FIRST_MOST | parts: the rows of the known pivots
// Needs panel_texels.glsl, pivoting.glsl and fold.glsl before it.
uniform int parts;
uniform int end;  // end of the rows
out uvec4 result;

uvec4 candidate(int i) {
    int row = min(i, end - 1);
    return uvec4(size_of(eliminated(texel(quarter, moved_from(row)), known)[known]), uint(row), 0u, 0u);
}

void main() {
    int x = int(gl_FragCoord.x);
    result = uvec4(swaps);
    if (x == parts) return;
    uvec4 found = nothing;
    for (int i = first + known + x; i < end; i += 8 * parts)  // eight fetches in flight
        found = both(found, both(four(candidate(i), candidate(i + parts), candidate(i + 2 * parts),
                                      candidate(i + 3 * parts)),
                                 four(candidate(i + 4 * parts), candidate(i + 5 * parts), candidate(i + 6 * parts),
                                      candidate(i + 7 * parts))));
    result = found;
}
