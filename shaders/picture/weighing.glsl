// Which texels of a word a fragment counts: those whose weight has the bit of the fragment's columns. The columns of
// tiles.frag and digits.frag are there once for each bit of the weights.
#ifdef WEIGHTED
uniform highp usampler2DArray texture2;  // of weights.frag
#endif
uniform ivec2 size;   // of a plane, in words
uniform int columns;  // of tiles
uniform int ranges;   // of bins or percentiles

int range() { return int(gl_FragCoord.x) / columns % ranges; }
uint counted(ivec2 at) {
#ifdef WEIGHTED
    int bit = int(gl_FragCoord.x) / columns / ranges;
    return texelFetch(texture2, ivec3(at, bit >> 2), 0)[bit & 3];
#else
    return 0xffffffffu;
#endif
}
