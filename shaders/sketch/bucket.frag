// The value that additive blending adds to a bucket: 1 to each counter whose bit is set in the mask. A texel of a
// render target has four counters or, with PACKED, eight: counter c and, times 2^12, counter c + 4. There are TARGETS
// render targets.
flat in uint mask;
layout(location = 0) out vec4 counters[TARGETS];

vec4 bits(int first) {
    uvec4 set = uvec4(mask >> first, mask >> (first + 1), mask >> (first + 2), mask >> (first + 3)) & 1u;
    return vec4(set);
}

vec4 texel(int i) {
#ifdef PACKED
    return bits(8 * i) + 4096.0 * bits(8 * i + 4);
#else
    return bits(4 * i);
#endif
}

void main() {
    // One by one, since OpenGL ES indexes outputs by constants only.
    counters[0] = texel(0);
#if TARGETS > 1
    counters[1] = texel(1);
#endif
#if TARGETS > 2
    counters[2] = texel(2);
    counters[3] = texel(3);
#endif
#if TARGETS > 4
    counters[4] = texel(4);
    counters[5] = texel(5);
    counters[6] = texel(6);
    counters[7] = texel(7);
#endif
}
