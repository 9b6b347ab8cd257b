// The rows of 32 whose sums compare as wanted. FETCH: keys of four rows of each column; ARGUMENTS: of one row. After
// keys.glsl, values.glsl, formula.glsl.
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
