// The state of the search for the k-th largest value, bit by bit from the highest.
uniform highp usampler2D texture2;  // for each bit, the number of values that are at least the probed one
uniform int bits;                   // bits per value
uniform uint k;                     // counted from 1

// The first n bits; the others are 0. A bit is 1 if at least k values are >= the value with that bit.
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
