// Four columns of a panel, one texel a row, eliminated together. Row first + q changes places with row swaps[q], in
// turn, where pivot q was found (and with itself before); pivot_rows[q] is that row's texel of the four columns:
// multipliers before the diagonal, U from it on. After numbers.glsl and what declares swaps, pivot_rows and
// vec4 texel(int x, int i).
uniform int first;    // row of the first of the four pivots
uniform int quarter;  // the texel that has the four columns
uniform int known;    // pivots: 0 to 4

int exchanged(int i, int k, int other) { return i == k ? other : i == other ? k : i; }
// Where the row lay that comes to be row i.
int moved_from(int i) {
    i = exchanged(i, first + 3, swaps.w);
    i = exchanged(i, first + 2, swaps.z);
    i = exchanged(i, first + 1, swaps.y);
    return exchanged(i, first, swaps.x);
}

// The texel of the four columns after so many eliminations, which leave their multipliers. Precise: a search and the
// elimination after it must come to the same values, or rounding errors would be divided by smaller ones.
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
// Pre: pivot_rows has those before q.
vec4 pivot_row(int q) { return eliminated(texel(quarter, moved_from(first + q)), q); }
#endif

// Texel x of row i once the known pivots are eliminated; texel PLACE says which row it was, and only moves.
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
