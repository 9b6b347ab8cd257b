// Solves with the BLOCK x BLOCK triangle on the diagonal at `first`. A fragment has a column of right-hand sides, and
// writes BLOCK rows of it, four in the channels of each layer. L has ones on its diagonal. UPPER: solves with U, from
// the last row up. Needs layout.glsl and factors.glsl (UPPER: also numbers.glsl) before it.
uniform int end;  // end of the rows, at most first + BLOCK
layout(location = 0) out vec4 rows[BLOCK / 4];

void main() {
    int j = int(gl_FragCoord.x);
    vec4 x[BLOCK / 4];
    for (int q = 0; q < BLOCK / 4; ++q) x[q] = vec4(0.0);
    for (int step = 0; step < BLOCK; ++step) {
#ifdef UPPER
        int r = BLOCK - 1 - step;
#else
        int r = step;
#endif
        int i = first + r;
        if (i >= end) continue;
        float sum = 0.0, diagonal = 1.0;
        for (int q = 0; q < BLOCK / 4; ++q) {
            vec4 row = factors(i, q);
#ifdef UPPER
            if (q == r >> 2) diagonal = row[r & 3];
#endif
            // Values that are not solved yet are zero, so the rest of the row, which belongs to the other triangle,
            // adds nothing.
            sum += dot(row, x[q]);
        }
        float solved = element(moved(i), j) - sum;
#ifdef UPPER
        solved = quotient(solved, diagonal);
#endif
        for (int q = 0; q < BLOCK / 4; ++q) {
            if (q == r >> 2) x[q] += solved * vec4(r % 4 == 0, r % 4 == 1, r % 4 == 2, r % 4 == 3);
        }
    }
    rows = x;  // OpenGL ES indexes outputs by constants only
}
