// Functions of GLSL 4.00 that the shaders use, for GLSL 3.30 and GLSL ES 3.00, under the same names. `precise` has no
// counterpart there: a driver may fuse a product and a sum. Doubles are replaced in query/doubles.glsl.
#define precise
#define NO_DOUBLES

void umulExtended(uint a, uint b, out uint high, out uint low) {
    uint a0 = a & 0xffffu, a1 = a >> 16, b0 = b & 0xffffu, b1 = b >> 16;
    uint left = a1 * b0, right = a0 * b1;
    uint middle = ((a0 * b0) >> 16) + (left & 0xffffu) + (right & 0xffffu);
    high = a1 * b1 + (left >> 16) + (right >> 16) + (middle >> 16);
    low = a * b;
}

int bitCount(uint bits) {
    bits -= (bits >> 1) & 0x55555555u;
    bits = (bits & 0x33333333u) + ((bits >> 2) & 0x33333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0fu;
    return int((bits * 0x01010101u) >> 24);
}

// Index of the lowest bit that is set, or -1.
int findLSB(uint bits) { return bitCount((bits & (~bits + 1u)) - 1u) - (bits == 0u ? 33 : 0); }
