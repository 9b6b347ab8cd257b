// Integers of 128 bits in two's complement, low words first.
uvec4 add(uvec4 a, uvec4 b) {
    uvec4 sum;
    uint carry = 0u;
    for (int i = 0; i < 4; ++i) {
        uint both = a[i] + b[i];
        sum[i] = both + carry;
        carry = (both < a[i] ? 1u : 0u) + (sum[i] < both ? 1u : 0u);
    }
    return sum;
}
uvec4 negative(uvec4 a) { return add(~a, uvec4(1u, 0u, 0u, 0u)); }
bool is_negative(uvec4 a) { return (a.w & 0x80000000u) != 0u; }
