// The bits of 32 rows whose sums satisfy the comparison. FETCH: gets the keys of four rows of each column. ARGUMENTS:
// those of one row. Needs keys.glsl, values.glsl and formula.glsl before it.
uniform highp usampler2D texture0;  // rows that have all values
out uint bits;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint word = 0u;
    for (int group = 0; group < 8; ++group) {
        FETCH
        for (int i = 0; i < 4; ++i) word |= (compared(ARGUMENTS) & wanted) != 0u ? 1u << (4 * group + i) : 0u;
    }
    bits = word & texelFetch(texture0, at, 0).x;
}
