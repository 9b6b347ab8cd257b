// Blended counters, one per texel, in rows of 2^pending_log2.
uniform highp sampler2D texture1;
uniform int pending_log2;

// Counters `first` to first + 3.
uvec4 pending_from(int first) {
    uvec4 found;
    for (int c = 0; c < 4; ++c) {
        int i = first + c;
        found[c] = uint(texelFetch(texture1, ivec2(i & ((1 << pending_log2) - 1), i >> pending_log2), 0).x);
    }
    return found;
}
