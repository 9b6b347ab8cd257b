// BLOCK columns of L or U, four at a time. PANEL: a panel of the factorization, with four columns per texel and one
// more texel with the row's number before the panel. Otherwise columns from `first` on of a factorized matrix.
uniform highp sampler2D texture1;
uniform int first;
#ifdef PANEL
vec4 factors(int i, int quarter) { return texelFetch(texture1, ivec2(quarter, i), 0); }
int moved(int i) { return int(texelFetch(texture1, ivec2(BLOCK / 4, i), 0).x); }
#else
uniform int size;  // of the matrix
float factor(int i, int j) { return j < size ? texelFetch(texture1, ivec2(j, i), 0).x : 0.0; }
vec4 factors(int i, int quarter) {
    int j = first + 4 * quarter;
    return vec4(factor(i, j), factor(i, j + 1), factor(i, j + 2), factor(i, j + 3));
}
int moved(int i) { return i; }
#endif
