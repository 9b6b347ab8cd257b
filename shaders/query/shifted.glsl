// Shifts 64 bits, (low, high), right by 0 to 64. Returns the low word of the result, or both.
uint shifted_low(uvec2 a, int shift) {
    return shift >= 64 ? 0u : shift >= 32 ? a.y >> (shift - 32) : shift == 0 ? a.x : a.x >> shift | a.y << (32 - shift);
}
uvec2 shifted(uvec2 a, int shift) { return uvec2(shifted_low(a, shift), shift >= 32 ? 0u : a.y >> shift); }
