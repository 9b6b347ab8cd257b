// Searches a column of a panel for the next pivot, after those that are known, which nothing has eliminated yet: each
// fragment does so for itself, of every parts-th row. So a column costs one pass over a texel a row.
//     target   0 .. parts - 1: (key, row) for the rule FIRST_MOST | parts: the rows that the known pivots were in
// After panel_texels.glsl, pivoting.glsl and fold.glsl.
uniform int parts;
uniform int end;  // of the rows
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
    for (int i = first + known + x; i < end; i += 8 * parts)  // eight fetches on their way at a time
        found = both(found, both(four(candidate(i), candidate(i + parts), candidate(i + 2 * parts),
                                      candidate(i + 3 * parts)),
                                 four(candidate(i + 4 * parts), candidate(i + 5 * parts), candidate(i + 6 * parts),
                                      candidate(i + 7 * parts))));
    result = found;
}
