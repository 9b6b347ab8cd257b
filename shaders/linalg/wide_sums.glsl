// Sums of 64 bits: (low word, high word), modulo 2^64.
#ifdef WIDE_SUMS
#define STATE uvec4
const uvec4 nothing = uvec4(0u);
uvec4 both(uvec4 a, uvec4 b) {
    uint low = a.x + b.x;
    return uvec4(low, a.y + b.y + (low < a.x ? 1u : 0u), 0u, 0u);
}
#endif
