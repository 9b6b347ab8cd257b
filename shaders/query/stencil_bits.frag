// The stencil of 32 rows as a word. A bit is set if the row's stencil equals `level` in the bits of `mask`.
uniform highp usampler2D texture0;
uniform uint level;
uniform uint mask;
out uint bits;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint word = 0u;
    for (int i = 0; i < 32; ++i)
        word |= (texelFetch(texture0, ivec2(32 * at.x + i, at.y), 0).x & mask) == level ? 1u << i : 0u;
    bits = word;
}
