// What the search for the k-th largest of some values, bit by bit from the top, knows.
uniform highp usampler2D texture2;  // counts: of values that are at least what was probed for each bit
uniform int bits;                   // of a value
uniform uint k;                     // from 1

// The first n bits; the rest is 0. A bit is set when at least k values are no less than the one with it.
uvec2 found_bits(int n) {
    uvec2 value = uvec2(0u);
    for (int i = 0; i < n; ++i) {
        if (texelFetch(texture2, ivec2(i, 0), 0).x < k) continue;
        int bit = bits - 1 - i;
        if (bit >= 32) value.y |= 1u << (bit - 32);
        else value.x |= 1u << bit;
    }
    return value;
}
