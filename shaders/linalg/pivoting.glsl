// Eliminates four columns of a panel, one texel per row, together. Row first + q is exchanged with row swaps[q], in
// turn, in which pivot q was found (with itself until then). pivot_rows[q] is that row's texel of the four columns:
// multipliers before the diagonal, U from it on. Needs numbers.glsl before it, and declarations of swaps, pivot_rows
// and vec4 texel(int x, int i).
uniform int first;    // row of the first of the four pivots
uniform int quarter;  // texel with the four columns
uniform int known;    // number of known pivots: 0 to 4

int exchanged(int i, int k, int other) { return i == k ? other : i == other ? k : i; }
// The old position of the row that becomes row i.
int moved_from(int i) {
    i = exchanged(i, first + 3, swaps.w);
    i = exchanged(i, first + 2, swaps.z);
    i = exchanged(i, first + 1, swaps.y);
    return exchanged(i, first, swaps.x);
}

// The texel of the four columns after `steps` eliminations, which leave their multipliers. Precise: a search and the
// later elimination must compute the same values; otherwise rounding errors would be divided by smaller ones.
vec4 eliminated(vec4 row, int steps) {
    precise vec4 left = row;
    if (steps > 0) {
        left.x = quotient(left.x, pivot_rows[0].x);
        left.yzw -= left.x * pivot_rows[0].yzw;
    }
    if (steps > 1) {
        left.y = quotient(left.y, pivot_rows[1].y);
        left.zw -= left.y * pivot_rows[1].zw;
    }
    if (steps > 2) {
        left.z = quotient(left.z, pivot_rows[2].z);
        left.w -= left.z * pivot_rows[2].w;
    }
    if (steps > 3) left.w = quotient(left.w, pivot_rows[3].w);
    return left;
}

#ifndef PIVOTS_GIVEN
// Pre: pivot_rows has the rows before q.
vec4 pivot_row(int q) { return eliminated(texel(quarter, moved_from(first + q)), q); }
#endif

// Texel x of row i after the known pivots are eliminated. Texel PLACE has the row's number and only moves.
vec4 after_pivots(int x, int i) {
    int from = moved_from(i), steps = clamp(i - first, 0, known);
    vec4 value = texel(x, from);
    if (steps == 0 || x < quarter || x == PLACE) return value;
    if (x == quarter) return eliminated(value, steps);
    vec4 multipliers = eliminated(texel(quarter, from), steps);
    vec4 row0 = texel(x, moved_from(first));
    value -= multipliers.x * row0;
    if (steps == 1) return value;
    vec4 row1 = texel(x, moved_from(first + 1)) - pivot_rows[1].x * row0;
    value -= multipliers.y * row1;
    if (steps == 2) return value;
    vec4 row2 = texel(x, moved_from(first + 2)) - pivot_rows[2].x * row0 - pivot_rows[2].y * row1;
    value -= multipliers.z * row2;
    if (steps == 3) return value;
    vec4 row3 = texel(x, moved_from(first + 3)) - pivot_rows[3].x * row0 - pivot_rows[3].y * row1 -
                pivot_rows[3].z * row2;
    return value - multipliers.w * row3;
}
